// stem_block: conv_block for a network's first layer. Its input needs no gradient and has few channels, so the
// convolution's output need not be saved: batchnorm's statistics, forward and backward, follow from the first and
// second moments of the input's patches.
//
// A patch is the D = 9c inputs (channel, row, column of the filter) under one output pixel, with zeros beyond the
// border. Saved by forward for backward, beside conv_block's mean, inverse_std and code:
//   moments (D + 1, D)   row 0: mean of each patch element over all n·h·w patches; rows 1..D: their covariance
// Again, mean and inverse_std are those of the convolution without its bias.
#pragma once

#include "ops/conv_block/conv_block.h"

extern const heddle_op heddle_op_stem_block_forward;
extern const heddle_op heddle_op_stem_block_backward;
extern const heddle_op heddle_op_stem_block_inference;

enum {
    // Second moments grow with the square of the channels; beyond four they cost more than the convolution they save.
    HEDDLE_STEM_BLOCK_MOST_CHANNELS = 4,
    HEDDLE_STEM_BLOCK_MOST_PATCH = HEDDLE_STEM_BLOCK_MOST_CHANNELS * HEDDLE_CONV_BLOCK_TAPS,
};

heddle_conv_block_forward_operands heddle_stem_block_forward_unpack(const heddle_call *call);
heddle_conv_block_backward_operands heddle_stem_block_backward_unpack(const heddle_call *call);

void heddle_stem_block_reference_forward(const void *shape, const double *const *input, double *const *output);
void heddle_stem_block_reference_backward(const void *shape, const double *const *input, double *const *output);

heddle_status heddle_stem_block_cpu_naive_forward(const heddle_call *call);
heddle_status heddle_stem_block_cpu_naive_backward(const heddle_call *call);

heddle_status heddle_stem_block_cpu_fused_forward(const heddle_call *call);
heddle_status heddle_stem_block_cpu_fused_backward(const heddle_call *call);
heddle_status heddle_stem_block_cpu_fused_inference(const heddle_call *call);
size_t heddle_stem_block_cpu_fused_workspace(const void *shape, int threads);

size_t heddle_stem_block_cuda_naive_forward_workspace(const void *shape, int threads);
size_t heddle_stem_block_cuda_naive_backward_workspace(const void *shape, int threads);
size_t heddle_stem_block_cuda_forward_workspace(const void *shape, int threads);
size_t heddle_stem_block_cuda_backward_workspace(const void *shape, int threads);
size_t heddle_stem_block_cuda_inference_workspace(const void *shape, int threads);

static inline int heddle_stem_block_patch(const heddle_conv_block_shape *shape)
{
    return HEDDLE_CONV_BLOCK_TAPS * shape->c;
}
