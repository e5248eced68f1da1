// globalavgpool, rung 2: one warp per plane.
//
// In rung 1 neighbouring threads read a plane apart, and a batch of few planes had few threads. Here the lanes of a
// warp read neighbouring pixels and add them, then add each other's sums by shuffles. Backward the warp divides once
// and fills its plane.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum { WARP = HEDDLE_WARP, BLOCK = 256 };

__device__ static size_t plane_of_warp(void)
{
    return (size_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
}

// input: (planes, pixels), output: (planes)
__global__ void __launch_bounds__(BLOCK)
    globalavgpool_forward_warp(int planes, int pixels, const float *__restrict__ input, float *__restrict__ output)
{
    size_t plane = plane_of_warp();
    if (plane >= (size_t)planes) // a whole warp
        return;
    int lane = threadIdx.x % WARP;
    float sum = 0;
    for (int i = lane; i < pixels; i += WARP)
        sum += input[plane * pixels + i];
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == 0)
        output[plane] = sum / (float)pixels;
}

// grad_output: (planes), grad_input: (planes, pixels)
__global__ void __launch_bounds__(BLOCK)
    globalavgpool_backward_warp(int planes, int pixels, const float *__restrict__ grad_output,
                                float *__restrict__ grad_input)
{
    size_t plane = plane_of_warp();
    if (plane >= (size_t)planes)
        return;
    float share = grad_output[plane] / (float)pixels;
    for (int i = threadIdx.x % WARP; i < pixels; i += WARP)
        grad_input[plane * pixels + i] = share;
}

typedef void kernel(int planes, int pixels, const float *from, float *to);

static heddle_status launch(const heddle_call *call, kernel *kernel)
{
    const heddle_globalavgpool_shape *shape = (const heddle_globalavgpool_shape *)call->shape;
    int planes = shape->n * shape->c;
    if (planes > 0)
        kernel<<<heddle_ceil_div(planes, BLOCK / WARP), BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            planes, shape->h * shape->w, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("02_warp_per_plane");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return launch(call, globalavgpool_forward_warp);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return launch(call, globalavgpool_backward_warp);
}

HEDDLE_CUDA_RUNG("globalavgpool_forward", "02_warp_per_plane", launch_forward)
HEDDLE_CUDA_RUNG("globalavgpool_backward", "02_warp_per_plane", launch_backward)
