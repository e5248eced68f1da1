// maxpool2d, rung 1. Forward: one thread per window. Backward: one thread per plane.
//
// A plane's gradient belongs to one thread, which clears it and adds by index: windows may share their largest value,
// and no two threads add to one place.
//
// Limited by: forward, loads a stride apart; backward, only n * c threads, with every lane of a warp in a different
// plane.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/pool2d.h"

// input: (n, c, h, w), output and index: (n, c, out_h, out_w). The first of the largest values wins, and NaN wins over
// everything, as in PyTorch.
__global__ void maxpool2d_forward(heddle_pool2d_shape shape, int out_h, int out_w, const float *input, float *output,
                                  int32_t *index)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, windows = (size_t)out_h * out_w;
    if (at >= (size_t)shape.n * shape.c * windows)
        return;
    int h_first = (int)(at % windows / out_w) * shape.stride - shape.padding;
    int w_first = (int)(at % out_w) * shape.stride - shape.padding;
    int h_end = min(h_first + shape.window, shape.h), w_end = min(w_first + shape.window, shape.w);
    int h_begin = max(h_first, 0), w_begin = max(w_first, 0);

    const float *plane = input + at / windows * shape.h * shape.w;
    int won = h_begin * shape.w + w_begin;
    float most = plane[won];
    for (int h = h_begin; h < h_end; h++)
        for (int w = w_begin; w < w_end; w++) {
            float value = plane[h * shape.w + w];
            if (value > most || isnan(value)) {
                most = value;
                won = h * shape.w + w;
            }
        }
    output[at] = most;
    index[at] = won;
}

__global__ void maxpool2d_backward(heddle_pool2d_shape shape, int windows, const int32_t *index,
                                   const float *grad_output, float *grad_input)
{
    size_t plane = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane_size = (size_t)shape.h * shape.w;
    if (plane >= (size_t)shape.n * shape.c)
        return;
    float *grad_plane = grad_input + plane * plane_size;
    for (size_t i = 0; i < plane_size; i++)
        grad_plane[i] = 0;
    for (size_t i = plane * windows; i < (plane + 1) * windows; i++)
        grad_plane[index[i]] += grad_output[i];
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    int out_h = heddle_pool2d_extent(shape, shape->h), out_w = heddle_pool2d_extent(shape, shape->w);
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->c * out_h * out_w);
    if (blocks > 0)
        maxpool2d_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, out_h, out_w, (const float *)call->input[0], (float *)call->output[0], (int32_t *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    int windows = heddle_pool2d_extent(shape, shape->h) * heddle_pool2d_extent(shape, shape->w);
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->c);
    if (blocks > 0)
        maxpool2d_backward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, windows, (const int32_t *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("maxpool2d_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("maxpool2d_backward", "01_naive", launch_backward)
