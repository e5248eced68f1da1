// avgpool2d, rung 1. Forward: one thread per window. Backward: one thread per element adds the shares of the windows
// that contain it.
//
// Limited by: loads a stride apart; backward, one division per window and the search for windows.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/pool2d.h"

// How many rows (or columns) of the window at `position` are inside an input of `extent`.
__device__ static int inside(const heddle_pool2d_shape &shape, int position, int extent)
{
    int first = position * shape.stride - shape.padding;
    return min(first + shape.window, extent) - max(first, 0);
}

// input: (n, c, h, w), output: (n, c, out_h, out_w)
__global__ void avgpool2d_forward(heddle_pool2d_shape shape, int out_h, int out_w, const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, windows = (size_t)out_h * out_w;
    if (at >= (size_t)shape.n * shape.c * windows)
        return;
    int y = (int)(at % windows / out_w), x = (int)(at % out_w);
    int rows = inside(shape, y, shape.h), columns = inside(shape, x, shape.w);
    int h_begin = max(y * shape.stride - shape.padding, 0), w_begin = max(x * shape.stride - shape.padding, 0);
    const float *plane = input + at / windows * shape.h * shape.w;
    float sum = 0;
    for (int h = h_begin; h < h_begin + rows; h++)
        for (int w = w_begin; w < w_begin + columns; w++)
            sum += plane[h * shape.w + w];
    output[at] = sum / (float)(rows * columns);
}

// The first window along one axis that contains row or column `place`; the last is (place + padding) / stride.
__device__ static int first_window(const heddle_pool2d_shape &shape, int place)
{
    int behind = place + shape.padding - shape.window; // a window that starts here ends just before `place`
    return behind < 0 ? 0 : behind / shape.stride + 1;
}

// grad_output: (n, c, out_h, out_w), grad_input: (n, c, h, w)
__global__ void avgpool2d_backward(heddle_pool2d_shape shape, int out_h, int out_w, const float *grad_output,
                                   float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane_size = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane_size)
        return;
    int h = (int)(at % plane_size / shape.w), w = (int)(at % shape.w);
    int y_end = min((h + shape.padding) / shape.stride + 1, out_h);
    int x_end = min((w + shape.padding) / shape.stride + 1, out_w);
    const float *grad_plane = grad_output + at / plane_size * out_h * out_w;
    float sum = 0;
    for (int y = first_window(shape, h); y < y_end; y++)
        for (int x = first_window(shape, w); x < x_end; x++)
            sum += grad_plane[y * out_w + x] / (float)(inside(shape, y, shape.h) * inside(shape, x, shape.w));
    grad_input[at] = sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    int out_h = heddle_pool2d_extent(shape, shape->h), out_w = heddle_pool2d_extent(shape, shape->w);
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->c * out_h * out_w);
    if (blocks > 0)
        avgpool2d_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, out_h, out_w, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    int out_h = heddle_pool2d_extent(shape, shape->h), out_w = heddle_pool2d_extent(shape, shape->w);
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->c * shape->h * shape->w);
    if (blocks > 0)
        avgpool2d_backward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, out_h, out_w, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("avgpool2d_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("avgpool2d_backward", "01_naive", launch_backward)
