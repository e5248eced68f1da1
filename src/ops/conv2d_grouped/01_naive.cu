// conv2d_grouped, rung 1: one thread per element of the result, straight from the definition.
//
// Limited by: index arithmetic, a bounds check and two loads from global memory per multiplication. The gradient of the
// weight has one thread per weight, each with a sum over the whole batch.

#include "ops/conv2d_grouped/conv2d_grouped.h"
#include "ops/cuda/rung.h"

// Row or column of the input that tap `tap` of output position `position` reads; may be outside.
__device__ static int source(const heddle_conv2d_shape &conv, int position, int tap)
{
    return position * conv.stride + tap * conv.dilation - conv.padding;
}

// Output position whose tap `tap` reads row or column `place` of the input; -1: none.
__device__ static int target(const heddle_conv2d_shape &conv, int place, int tap, int positions)
{
    int steps = place + conv.padding - tap * conv.dilation;
    return steps >= 0 && steps % conv.stride == 0 && steps / conv.stride < positions ? steps / conv.stride : -1;
}

// input: (n, c, h, w), weight: (k, c / groups, r, s), bias: (k) or NULL, output: (n, k, out_h, out_w)
__global__ void conv2d_grouped_forward(heddle_conv2d_shape conv, heddle_conv2d_group group, const float *input,
                                       const float *weight, const float *bias, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= conv.n * group.out_plane * conv.k)
        return;
    int x = (int)(at % group.out_w), y = (int)(at % group.out_plane / group.out_w);
    size_t k = at / group.out_plane % conv.k, n = at / group.out_plane / conv.k;
    size_t first = k / group.filters * group.channels;
    float sum = bias ? bias[k] : 0;
    for (int c = 0; c < group.channels; c++)
        for (int r = 0; r < conv.r; r++)
            for (int s = 0; s < conv.s; s++) {
                int h = source(conv, y, r), w = source(conv, x, s);
                if (h >= 0 && h < conv.h && w >= 0 && w < conv.w)
                    sum += input[(n * conv.c + first + c) * group.in_plane + (size_t)h * conv.w + w] *
                           weight[((k * group.channels + c) * conv.r + r) * conv.s + s];
            }
    output[at] = sum;
}

// weight: (k, c / groups, r, s), grad_output: (n, k, out_h, out_w), grad_input: (n, c, h, w)
__global__ void conv2d_grouped_grad_input(heddle_conv2d_shape conv, heddle_conv2d_group group, const float *weight,
                                          const float *grad_output, float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= conv.n * group.in_plane * conv.c)
        return;
    int w = (int)(at % conv.w), h = (int)(at % group.in_plane / conv.w);
    size_t c = at / group.in_plane % conv.c, n = at / group.in_plane / conv.c;
    size_t first = c / group.channels * group.filters;
    float sum = 0;
    for (size_t k = first; k < first + group.filters; k++)
        for (int r = 0; r < conv.r; r++)
            for (int s = 0; s < conv.s; s++) {
                int y = target(conv, h, r, group.out_h), x = target(conv, w, s, group.out_w);
                if (y >= 0 && x >= 0)
                    sum += grad_output[(n * conv.k + k) * group.out_plane + (size_t)y * group.out_w + x] *
                           weight[((k * group.channels + c % group.channels) * conv.r + r) * conv.s + s];
            }
    grad_input[at] = sum;
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), grad_weight: (k, c / groups, r, s)
__global__ void conv2d_grouped_grad_weight(heddle_conv2d_shape conv, heddle_conv2d_group group, const float *input,
                                           const float *grad_output, float *grad_weight)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, taps = (size_t)conv.r * conv.s;
    if (at >= conv.k * taps * group.channels)
        return;
    int s = (int)(at % conv.s), r = (int)(at % taps / conv.s);
    size_t k = at / taps / group.channels, channel = k / group.filters * group.channels + at / taps % group.channels;
    float sum = 0;
    for (size_t n = 0; n < (size_t)conv.n; n++)
        for (int y = 0; y < group.out_h; y++)
            for (int x = 0; x < group.out_w; x++) {
                int h = source(conv, y, r), w = source(conv, x, s);
                if (h >= 0 && h < conv.h && w >= 0 && w < conv.w)
                    sum += input[(n * conv.c + channel) * group.in_plane + (size_t)h * conv.w + w] *
                           grad_output[(n * conv.k + k) * group.out_plane + (size_t)y * group.out_w + x];
            }
    grad_weight[at] = sum;
}

__global__ void conv2d_grouped_grad_bias(heddle_conv2d_shape conv, size_t plane, const float *grad_output,
                                         float *grad_bias)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= (size_t)conv.k)
        return;
    float sum = 0;
    for (size_t n = 0; n < (size_t)conv.n; n++)
        for (size_t i = 0; i < plane; i++)
            sum += grad_output[(n * conv.k + k) * plane + i];
    grad_bias[k] = sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = (const heddle_conv2d_grouped_shape *)call->shape;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    unsigned blocks = heddle_cuda_blocks(shape->conv.n * group.out_plane * shape->conv.k);
    if (blocks > 0)
        conv2d_grouped_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->conv, group, (const float *)call->input[0], (const float *)call->input[1],
            (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = (const heddle_conv2d_grouped_shape *)call->shape;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    unsigned blocks = heddle_cuda_blocks(shape->conv.n * group.in_plane * shape->conv.c);
    if (blocks > 0)
        conv2d_grouped_grad_input<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->conv, group, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = (const heddle_conv2d_grouped_shape *)call->shape;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const heddle_conv2d_shape &conv = shape->conv;
    const float *grad_output = (const float *)call->input[1];
    unsigned blocks = heddle_cuda_blocks((size_t)conv.k * group.channels * conv.r * conv.s);
    conv2d_grouped_grad_weight<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        conv, group, (const float *)call->input[0], grad_output, (float *)call->output[0]);
    if (call->output[1])
        conv2d_grouped_grad_bias<<<heddle_cuda_blocks(conv.k), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            conv, group.out_plane, grad_output, (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("conv2d_grouped_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_grouped_backward_data", "01_naive", launch_backward_data)
HEDDLE_CUDA_RUNG("conv2d_grouped_backward_weight", "01_naive", launch_backward_weight)
