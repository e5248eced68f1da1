// Rungs that are wrong on purpose, in a module of the tests' own: what the simulator finds in them must reach the
// caller as a status and a message with the line.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Every thread adds to the same element.
__global__ void racy(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        output[i] = a[i] + b[i];
    if (i < n)
        output[0] = output[0] + b[i]; // the race
}

// The guard lets one thread too many through.
__global__ void out_of_bounds(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n)
        output[i] = a[i] + b[i]; // the stray access
}

// Reads what a neighbour put into shared memory without waiting for it.
__global__ void no_barrier(int n, const float *a, const float *b, float *output)
{
    __shared__ float sums[HEDDLE_CUDA_BLOCK];
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    sums[threadIdx.x] = i < n ? a[i] + b[i] : 0.0f;
    float neighbour = sums[HEDDLE_CUDA_BLOCK - 1 - threadIdx.x]; // without __syncthreads()
    if (i < n)
        output[i] = sums[threadIdx.x] + 0.0f * neighbour;
}

// Right, but for one value.
__global__ void one_wrong(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        output[i] = i == n - 1 ? 2.0f * (a[i] + b[i]) : a[i] + b[i];
}

// Right: the others must not be found out by what is true of every rung.
__global__ void right(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        output[i] = a[i] + b[i];
}

typedef void kernel_type(int n, const float *a, const float *b, float *output);

template <kernel_type *kernel> static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    if (n > 0)
        kernel<<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("faulty");
}

static heddle_status launch_too_wide(const heddle_call *call)
{
    const int threads_beyond_any_card = 4096;
    right<<<1, threads_beyond_any_card, 0, heddle_cuda_stream_of(call)>>>(
        1, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("too_wide");
}

HEDDLE_CUDA_RUNG("add_forward", "racy", launch<racy>)
HEDDLE_CUDA_RUNG("add_forward", "out_of_bounds", launch<out_of_bounds>)
HEDDLE_CUDA_RUNG("add_forward", "no_barrier", launch<no_barrier>)
HEDDLE_CUDA_RUNG("add_forward", "one_wrong", launch<one_wrong>)
HEDDLE_CUDA_RUNG("add_forward", "right", launch<right>)
HEDDLE_CUDA_RUNG("add_forward", "too_wide", launch_too_wide)
