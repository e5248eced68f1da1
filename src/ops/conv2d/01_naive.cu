// conv2d, rung 1: one thread per element of the result, straight from the definition.
//
// The gradient of the input is gathered, not scattered: each thread finds the windows that contain its element, so no
// two threads add to one place.
//
// Limited by: index arithmetic, a bounds check and two loads from global memory per multiplication. The gradient of the
// weight has only k * c * r * s threads, each with a sum over the whole batch.

#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"
#include "ops/cuda/rung.h"

// Row or column of the input that tap `tap` of output position `position` reads; may be outside.
__device__ static int source(const heddle_conv2d_shape &shape, int position, int tap)
{
    return position * shape.stride + tap * shape.dilation - shape.padding;
}

// Output position whose tap `tap` reads row or column `place` of the input; -1: none.
__device__ static int target(const heddle_conv2d_shape &shape, int place, int tap, int positions)
{
    int steps = place + shape.padding - tap * shape.dilation;
    return steps >= 0 && steps % shape.stride == 0 && steps / shape.stride < positions ? steps / shape.stride : -1;
}

// input: (n, c, h, w), weight: (k, c, r, s), bias: (k) or NULL, output: (n, k, out_h, out_w)
__global__ void conv2d_forward(heddle_conv2d_shape shape, int out_h, int out_w, const float *input, const float *weight,
                               const float *bias, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)out_h * out_w;
    if (at >= (size_t)shape.n * shape.k * plane)
        return;
    int x = (int)(at % out_w), y = (int)(at % plane / out_w);
    size_t k = at / plane % shape.k, n = at / plane / shape.k;
    float sum = 0;
    for (int c = 0; c < shape.c; c++)
        for (int r = 0; r < shape.r; r++)
            for (int s = 0; s < shape.s; s++) {
                int h = source(shape, y, r), w = source(shape, x, s);
                if (h >= 0 && h < shape.h && w >= 0 && w < shape.w)
                    sum += input[((n * shape.c + c) * shape.h + h) * shape.w + w] *
                           weight[((k * shape.c + c) * shape.r + r) * shape.s + s];
            }
    output[at] = bias ? sum + bias[k] : sum;
}

// weight: (k, c, r, s), grad_output: (n, k, out_h, out_w), grad_input: (n, c, h, w)
__global__ void conv2d_grad_input(heddle_conv2d_shape shape, int out_h, int out_w, const float *weight,
                                  const float *grad_output, float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane)
        return;
    int w = (int)(at % shape.w), h = (int)(at % plane / shape.w);
    size_t c = at / plane % shape.c, n = at / plane / shape.c;
    float sum = 0;
    for (int k = 0; k < shape.k; k++)
        for (int r = 0; r < shape.r; r++)
            for (int s = 0; s < shape.s; s++) {
                int y = target(shape, h, r, out_h), x = target(shape, w, s, out_w);
                if (y >= 0 && x >= 0)
                    sum += grad_output[((n * shape.k + k) * out_h + y) * out_w + x] *
                           weight[(((size_t)k * shape.c + c) * shape.r + r) * shape.s + s];
            }
    grad_input[at] = sum;
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), grad_weight: (k, c, r, s)
__global__ void conv2d_grad_weight(heddle_conv2d_shape shape, int out_h, int out_w, const float *input,
                                   const float *grad_output, float *grad_weight)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, taps = (size_t)shape.r * shape.s;
    if (at >= (size_t)shape.k * shape.c * taps)
        return;
    int s = (int)(at % shape.s), r = (int)(at % taps / shape.s);
    size_t c = at / taps % shape.c, k = at / taps / shape.c;
    float sum = 0;
    for (int n = 0; n < shape.n; n++)
        for (int y = 0; y < out_h; y++)
            for (int x = 0; x < out_w; x++) {
                int h = source(shape, y, r), w = source(shape, x, s);
                if (h >= 0 && h < shape.h && w >= 0 && w < shape.w)
                    sum += input[(((size_t)n * shape.c + c) * shape.h + h) * shape.w + w] *
                           grad_output[(((size_t)n * shape.k + k) * out_h + y) * out_w + x];
            }
    grad_weight[at] = sum;
}

__global__ void conv2d_grad_bias(heddle_conv2d_shape shape, size_t plane, const float *grad_output, float *grad_bias)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= (size_t)shape.k)
        return;
    float sum = 0;
    for (int n = 0; n < shape.n; n++)
        for (size_t i = 0; i < plane; i++)
            sum += grad_output[((size_t)n * shape.k + k) * plane + i];
    grad_bias[k] = sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    int out_h = heddle_conv2d_extent(shape, shape->h, shape->r);
    int out_w = heddle_conv2d_extent(shape, shape->w, shape->s);
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->k * out_h * out_w);
    if (blocks > 0)
        conv2d_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, out_h, out_w, (const float *)call->input[0], (const float *)call->input[1],
            (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    int out_h = heddle_conv2d_extent(shape, shape->h, shape->r);
    int out_w = heddle_conv2d_extent(shape, shape->w, shape->s);
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->c * shape->h * shape->w);
    if (blocks > 0)
        conv2d_grad_input<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, out_h, out_w, (const float *)call->input[0], (const float *)call->input[1],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    int out_h = heddle_conv2d_extent(shape, shape->h, shape->r);
    int out_w = heddle_conv2d_extent(shape, shape->w, shape->s);
    const float *input = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    float *grad_weight = (float *)call->output[0], *grad_bias = (float *)call->output[1];
    unsigned blocks = heddle_cuda_blocks((size_t)shape->k * shape->c * shape->r * shape->s);
    conv2d_grad_weight<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(*shape, out_h, out_w, input,
                                                                                      grad_output, grad_weight);
    if (grad_bias)
        conv2d_grad_bias<<<heddle_cuda_blocks(shape->k), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (size_t)out_h * out_w, grad_output, grad_bias);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "01_naive", launch_backward_data)
HEDDLE_CUDA_RUNG("conv2d_backward_weight", "01_naive", launch_backward_weight)
