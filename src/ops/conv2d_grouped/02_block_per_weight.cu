// conv2d_grouped, rung 2 of the gradient of the weight: one block per weight.
//
// In rung 1 a thread computed a weight's whole sum over images and pixels, and a depthwise convolution has few weights.
// Here the threads of a block share that sum. Neighbouring threads have neighbouring pixels; they add their values by
// shuffles, then over the warps in shared memory. The order is fixed, so the bits are reproducible.
//
// Limited by: reading both arrays once per tap.

#include "ops/conv2d_grouped/conv2d_grouped.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum { BLOCK = 256 };

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), grad_weight: (k, c / groups, r, s)
__global__ void __launch_bounds__(BLOCK)
    conv2d_grouped_grad_weight_block(heddle_conv2d_shape conv, heddle_conv2d_group group,
                                     const float *__restrict__ input, const float *__restrict__ grad_output,
                                     float *__restrict__ grad_weight)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    const int s = blockIdx.x % conv.s, r = blockIdx.x / conv.s % conv.r;
    const int c = blockIdx.x / (conv.s * conv.r) % group.channels, k = blockIdx.x / (conv.s * conv.r) / group.channels;
    const int channel = k / group.filters * group.channels + c, pixels = (int)group.out_plane;
    const int down = r * conv.dilation - conv.padding, across = s * conv.dilation - conv.padding;
    float sum = 0;
    for (int n = 0; n < conv.n; n++) {
        const float *plane = input + ((size_t)n * conv.c + channel) * group.in_plane;
        const float *grad_plane = grad_output + ((size_t)n * conv.k + k) * group.out_plane;
        for (int at = threadIdx.x; at < pixels; at += BLOCK) {
            const int h = at / group.out_w * conv.stride + down, w = at % group.out_w * conv.stride + across;
            if (h >= 0 && h < conv.h && w >= 0 && w < conv.w)
                sum += plane[h * conv.w + w] * grad_plane[at];
        }
    }
    sum = heddle_group_sum<BLOCK>(sum, of_warp);
    if (threadIdx.x == 0)
        grad_weight[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(BLOCK)
    conv2d_grouped_grad_bias_block(heddle_conv2d_shape conv, int pixels, const float *__restrict__ grad_output,
                                   float *__restrict__ grad_bias)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    float sum = 0;
    for (int n = 0; n < conv.n; n++)
        for (int at = threadIdx.x; at < pixels; at += BLOCK)
            sum += grad_output[((size_t)n * conv.k + blockIdx.x) * pixels + at];
    sum = heddle_group_sum<BLOCK>(sum, of_warp);
    if (threadIdx.x == 0)
        grad_bias[blockIdx.x] = sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = (const heddle_conv2d_grouped_shape *)call->shape;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const heddle_conv2d_shape &conv = shape->conv;
    const float *grad_output = (const float *)call->input[1];
    unsigned weights = (unsigned)conv.k * group.channels * conv.r * conv.s;
    conv2d_grouped_grad_weight_block<<<weights, BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        conv, group, (const float *)call->input[0], grad_output, (float *)call->output[0]);
    if (call->output[1])
        conv2d_grouped_grad_bias_block<<<conv.k, BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            conv, (int)group.out_plane, grad_output, (float *)call->output[1]);
    return heddle_cuda_launched("02_block_per_weight");
}

HEDDLE_CUDA_RUNG("conv2d_grouped_backward_weight", "02_block_per_weight", launch)
