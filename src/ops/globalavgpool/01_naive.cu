// globalavgpool, rung 1. Forward: one thread per plane. Backward: one thread per pixel.
//
// Limited by: neighbouring threads' loads, which are a plane apart; backward, a division to find the plane.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input: (planes, pixels), output: (planes)
__global__ void globalavgpool_forward(int planes, int pixels, const float *input, float *output)
{
    size_t plane = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (plane >= (size_t)planes)
        return;
    float sum = 0;
    for (int i = 0; i < pixels; i++)
        sum += input[plane * pixels + i];
    output[plane] = sum / (float)pixels;
}

// grad_output: (planes), grad_input: (planes, pixels)
__global__ void globalavgpool_backward(int planes, int pixels, const float *grad_output, float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (size_t)planes * pixels)
        grad_input[at] = grad_output[at / pixels] / (float)pixels;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_globalavgpool_shape *shape = (const heddle_globalavgpool_shape *)call->shape;
    int planes = shape->n * shape->c;
    unsigned blocks = heddle_cuda_blocks((size_t)planes);
    if (blocks > 0)
        globalavgpool_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            planes, shape->h * shape->w, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_globalavgpool_shape *shape = (const heddle_globalavgpool_shape *)call->shape;
    int planes = shape->n * shape->c, pixels = shape->h * shape->w;
    unsigned blocks = heddle_cuda_blocks((size_t)planes * pixels);
    if (blocks > 0)
        globalavgpool_backward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            planes, pixels, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("globalavgpool_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("globalavgpool_backward", "01_naive", launch_backward)
