// batchnorm2d: its operators and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_batchnorm2d_forward, heddle_op_batchnorm2d_backward, heddle_op_batchnorm2d_inference;

// What batchnorm2d_relu shares with the forward operator.
enum { HEDDLE_BATCHNORM2D_FIELDS = 6 };
extern const heddle_field heddle_batchnorm2d_fields[HEDDLE_BATCHNORM2D_FIELDS];
int heddle_batchnorm2d_dims_input(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_batchnorm2d_dims_channels(const void *shape, int dims[HEDDLE_MAX_DIMS]);
heddle_status heddle_batchnorm2d_training_validate(const void *shape);
heddle_cost heddle_batchnorm2d_forward_cost(const void *shape);
void heddle_batchnorm2d_forward_reference(const void *shape, const double *const *input, double *const *output);
int64_t heddle_batchnorm2d_reduction(const void *shape);
size_t heddle_batchnorm2d_naive_workspace(const void *shape, int threads);
size_t heddle_batchnorm2d_tiles_workspace(const void *shape, int threads);
size_t heddle_batchnorm2d_cudnn_workspace(const void *shape, int threads);
bool heddle_batchnorm2d_supports_tiles(const void *shape);

heddle_status heddle_batchnorm2d_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_inference_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_forward_cpu_channels(const heddle_call *call);
heddle_status heddle_batchnorm2d_backward_cpu_channels(const heddle_call *call);
heddle_status heddle_batchnorm2d_inference_cpu_channels(const heddle_call *call);
