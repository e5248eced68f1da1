// conv2d_grouped, rung 2: one block per plane of the result, with its filters in shared memory.
//
// In rung 1 every thread found its image, filter and pixel by 64-bit divisions, and loaded a weight from global memory
// per multiplication. A block with one plane knows image and filter; the weights are read once, and within a plane 32
// bits suffice. Neighbouring threads have neighbouring pixels, so the taps of a window hit the L1 cache.
//
// Limited by: the loads of the image, one per multiplication, though from the cache.

#include "ops/conv2d_grouped/conv2d_grouped.h"
#include "ops/cuda/rung.h"

enum { BLOCK = 256 };

// input: (n, c, h, w), weight: (k, c / groups, r, s), bias: (k) or NULL, output: (n, k, out_h, out_w)
__global__ void __launch_bounds__(BLOCK)
    conv2d_grouped_forward_plane(heddle_conv2d_shape conv, heddle_conv2d_group group, const float *__restrict__ input,
                                 const float *__restrict__ weight, const float *__restrict__ bias,
                                 float *__restrict__ output)
{
    extern __shared__ float filter[]; // (c / groups, r, s)
    const int n = blockIdx.x / conv.k, k = blockIdx.x % conv.k, pixels = (int)group.out_plane;
    const int taps = group.channels * conv.r * conv.s;
    for (int i = threadIdx.x; i < taps; i += BLOCK)
        filter[i] = weight[(size_t)k * taps + i];
    __syncthreads();
    const float *planes = input + ((size_t)n * conv.c + k / group.filters * group.channels) * group.in_plane;
    for (int at = threadIdx.x; at < pixels; at += BLOCK) {
        const int top = at / group.out_w * conv.stride - conv.padding;
        const int left = at % group.out_w * conv.stride - conv.padding;
        const float *tap = filter;
        float sum = bias ? bias[k] : 0;
        for (int c = 0; c < group.channels; c++)
            for (int r = 0; r < conv.r; r++)
                for (int s = 0; s < conv.s; s++, tap++) {
                    const int h = top + r * conv.dilation, w = left + s * conv.dilation;
                    if (h >= 0 && h < conv.h && w >= 0 && w < conv.w)
                        sum += planes[c * group.in_plane + h * conv.w + w] * *tap;
                }
        output[(size_t)blockIdx.x * group.out_plane + at] = sum;
    }
}

// weight: (k, c / groups, r, s), grad_output: (n, k, out_h, out_w), grad_input: (n, c, h, w)
__global__ void __launch_bounds__(BLOCK)
    conv2d_grouped_grad_input_plane(heddle_conv2d_shape conv, heddle_conv2d_group group,
                                    const float *__restrict__ weight, const float *__restrict__ grad_output,
                                    float *__restrict__ grad_input)
{
    extern __shared__ float filter[]; // (k / groups, r, s) of this channel
    const int n = blockIdx.x / conv.c, c = blockIdx.x % conv.c, pixels = (int)group.in_plane;
    const int first = c / group.channels * group.filters, taps = conv.r * conv.s;
    for (int i = threadIdx.x; i < group.filters * taps; i += BLOCK)
        filter[i] = weight[((size_t)(first + i / taps) * group.channels + c % group.channels) * taps + i % taps];
    __syncthreads();
    const float *planes = grad_output + ((size_t)n * conv.k + first) * group.out_plane;
    for (int at = threadIdx.x; at < pixels; at += BLOCK) {
        const int bottom = at / conv.w + conv.padding, right = at % conv.w + conv.padding;
        float sum = 0;
        for (int r = 0; r < conv.r; r++) {
            const int down = bottom - r * conv.dilation, y = down / conv.stride;
            if (down < 0 || down % conv.stride != 0 || y >= group.out_h)
                continue;
            for (int s = 0; s < conv.s; s++) {
                const int across = right - s * conv.dilation, x = across / conv.stride;
                if (across < 0 || across % conv.stride != 0 || x >= group.out_w)
                    continue;
                for (int k = 0; k < group.filters; k++)
                    sum += planes[k * group.out_plane + y * group.out_w + x] * filter[k * taps + r * conv.s + s];
            }
        }
        grad_input[(size_t)blockIdx.x * group.in_plane + at] = sum;
    }
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = (const heddle_conv2d_grouped_shape *)call->shape;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const heddle_conv2d_shape &conv = shape->conv;
    size_t bytes = sizeof(float) * group.channels * conv.r * conv.s;
    if (conv.n > 0)
        conv2d_grouped_forward_plane<<<conv.n * conv.k, BLOCK, bytes, heddle_cuda_stream_of(call)>>>(
            conv, group, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0]);
    return heddle_cuda_launched("02_block_per_plane");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = (const heddle_conv2d_grouped_shape *)call->shape;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const heddle_conv2d_shape &conv = shape->conv;
    size_t bytes = sizeof(float) * group.filters * conv.r * conv.s;
    if (conv.n > 0 && group.in_plane > 0)
        conv2d_grouped_grad_input_plane<<<conv.n * conv.c, BLOCK, bytes, heddle_cuda_stream_of(call)>>>(
            conv, group, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("02_block_per_plane");
}

HEDDLE_CUDA_RUNG("conv2d_grouped_forward", "02_block_per_plane", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_grouped_backward_data", "02_block_per_plane", launch_backward_data)
