// dot, rung 2: warps add by shuffles, and only their sums meet in shared memory.
//
// Rung 1 waited at a barrier in every round of its tree. The 32 lanes of a warp can exchange registers: five shuffles
// give a warp's sum, and one barrier per block is left. The block's sum still goes to the result by an atomic.
//
// Limited by: loads. A thread loads only 8 bytes, and every 256 elements cost an atomic on one address.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum { THREADS = HEDDLE_CUDA_BLOCK };

// x, y: (n), output: (1), zero before the launch
__global__ void dot_shuffle(int n, const float *x, const float *y, float *output)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float sum = heddle_group_sum<THREADS>(i < (size_t)n ? x[i] * y[i] : 0, of_warp);
    if (threadIdx.x == 0)
        atomicAdd(output, sum);
}

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    cudaMemsetAsync(call->output[0], 0, sizeof(float), heddle_cuda_stream_of(call));
    if (n > 0)
        dot_shuffle<<<heddle_ceil_div(n, THREADS), THREADS, 0, heddle_cuda_stream_of(call)>>>(
            n, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("02_shuffle");
}

HEDDLE_CUDA_RUNG("dot", "02_shuffle", launch)
