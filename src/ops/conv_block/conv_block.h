// conv_block: 3×3 convolution (stride 1, padding 1), batchnorm, relu and 2×2 max pooling as one operator. What its
// rungs and stem_block's share: the operands by name, what the saved ones hold, and where an activation lies in memory.
//
// Saved by forward for backward:
//   convolution (n, h, w, k)   the convolution without its bias, which batchnorm would subtract again
//   mean (k)                   of `convolution` over n, h, w
//   inverse_std (k)            1 / sqrt(variance + epsilon)
//   code (n, h/2, w/2, k)      which position of its window won: 0 1 over 2 3, or HEDDLE_CONV_BLOCK_NO_WINNER
#pragma once

#include <stdint.h>

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_conv_block_forward;
extern const heddle_op heddle_op_conv_block_backward;
extern const heddle_op heddle_op_conv_block_inference;

enum {
    HEDDLE_CONV_BLOCK_TAPS = 9,      // of a 3×3 filter
    HEDDLE_CONV_BLOCK_NO_WINNER = 4, // relu blocked the whole window, so no gradient flows back
};

// The operands of a call under their names. Optional ones may be NULL.
typedef struct heddle_conv_block_forward_operands {
    const float *input, *weight, *bias, *gamma, *beta;
    float *output;
    float *convolution; // conv_block
    double *moments;    // stem_block
    float *mean, *inverse_std;
    uint8_t *code;
    float *running_mean, *running_var;
} heddle_conv_block_forward_operands;

typedef struct heddle_conv_block_backward_operands {
    const float *input, *weight, *gamma;
    const float *convolution; // conv_block
    const double *moments;    // stem_block
    const float *mean, *inverse_std;
    const uint8_t *code;
    const float *grad_output;
    float *grad_input; // conv_block
    float *grad_weight, *grad_bias, *grad_gamma, *grad_beta;
} heddle_conv_block_backward_operands;

typedef struct heddle_conv_block_inference_operands {
    const float *input, *weight, *bias, *gamma, *beta, *running_mean, *running_var;
    float *output;
} heddle_conv_block_inference_operands;

heddle_conv_block_forward_operands heddle_conv_block_forward_unpack(const heddle_call *call);
heddle_conv_block_backward_operands heddle_conv_block_backward_unpack(const heddle_call *call);
heddle_conv_block_inference_operands heddle_conv_block_inference_unpack(const heddle_call *call);

// Shared with stem_block, which has the same shape struct and mostly the same operands.
heddle_status heddle_conv_block_validate(const void *shape);
heddle_cost heddle_conv_block_forward_cost(const void *shape);
heddle_cost heddle_conv_block_inference_cost(const void *shape);
int64_t heddle_conv_block_reduction(const void *shape);
int heddle_conv_block_input_dims(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv_block_output_dims(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv_block_weight_dims(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv_block_channel_dims(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_conv_block_code_dims(const void *shape, int dims[HEDDLE_MAX_DIMS]);
extern const heddle_field heddle_conv_block_fields[];
enum { HEDDLE_CONV_BLOCK_FIELDS = 9 };

void heddle_conv_block_reference_forward(const void *shape, const double *const *input, double *const *output);
void heddle_conv_block_reference_backward(const void *shape, const double *const *input, double *const *output);
void heddle_conv_block_reference_inference(const void *shape, const double *const *input, double *const *output);
void heddle_conv_block_reference_convolution(const heddle_conv_block_shape *shape, const double *input,
                                             const double *weight, double *convolution);

heddle_status heddle_conv_block_cpu_naive_forward(const heddle_call *call);
heddle_status heddle_conv_block_cpu_naive_backward(const heddle_call *call);
heddle_status heddle_conv_block_cpu_naive_inference(const heddle_call *call);
size_t heddle_conv_block_cpu_naive_backward_workspace(const void *shape, int threads);

heddle_status heddle_conv_block_cpu_winograd_forward(const heddle_call *call);
heddle_status heddle_conv_block_cpu_winograd_backward(const heddle_call *call);
heddle_status heddle_conv_block_cpu_winograd_inference(const heddle_call *call);
size_t heddle_conv_block_cpu_winograd_workspace(const void *shape, int threads); // forward and inference
size_t heddle_conv_block_cpu_winograd_backward_workspace(const void *shape, int threads);

size_t heddle_conv_block_cuda_naive_backward_workspace(const void *shape, int threads);
size_t heddle_conv_block_cuda_forward_workspace(const void *shape, int threads);
size_t heddle_conv_block_cuda_backward_workspace(const void *shape, int threads);
size_t heddle_conv_block_cuda_inference_workspace(const void *shape, int threads);

// Element (image, channel, y, x) of an activation with `channels` planes of (h, w).
static inline size_t heddle_activation_at(int channels_last, int channels, int h, int w, int image, int channel, int y,
                                          int x)
{
    if (channels_last)
        return (((size_t)image * h + y) * w + x) * channels + channel;
    return (((size_t)image * channels + channel) * h + y) * w + x;
}

// Number of values behind one channel's statistics.
static inline double heddle_conv_block_pixels(const heddle_conv_block_shape *shape)
{
    return (double)shape->n * shape->h * shape->w;
}
