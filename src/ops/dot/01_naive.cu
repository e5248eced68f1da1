// dot, rung 1: one thread per element; a tree in shared memory adds the products of a block, and an atomic its sum.
//
// An atomic per element would send every product to one address. Here a block sends one sum for its 256 elements. The
// order in which blocks arrive is not defined, so the last bits of the result vary.
//
// Limited by: barriers, one per round of the tree, eight for 256 elements, and 8 bytes of loads per thread for them.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { THREADS = HEDDLE_CUDA_BLOCK };

// x, y: (n), output: (1), zero before the launch
__global__ void dot_naive(int n, const float *x, const float *y, float *output)
{
    __shared__ float tree[THREADS];
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    tree[threadIdx.x] = i < (size_t)n ? x[i] * y[i] : 0;
    __syncthreads();

    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }

    if (threadIdx.x == 0)
        atomicAdd(output, tree[0]);
}

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    cudaMemsetAsync(call->output[0], 0, sizeof(float), heddle_cuda_stream_of(call));
    if (n > 0)
        dot_naive<<<heddle_ceil_div(n, THREADS), THREADS, 0, heddle_cuda_stream_of(call)>>>(
            n, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("dot", "01_naive", launch)
