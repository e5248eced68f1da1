// sum and mean, rung 5: warps add by shuffles, without shared memory or barriers.
//
// Rung 4 waited at a barrier in every round. The 32 lanes of a warp can exchange registers: five shuffles give the sum
// of a warp. The block's eight sums meet in shared memory once, and the first warp adds them.
//
// Limited by: loads. A thread loads only 4 bytes and then takes part in a whole tree for them.

#include "ops/reduction/levels.h"

enum { TILE = HEDDLE_REDUCTION_TILE, WARP = 32, WARPS = TILE / WARP };
static const unsigned ALL_LANES = 0xffffffffu;

__device__ static float warp_sum(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(ALL_LANES, value, distance);
    return value; // of all lanes, in lane 0
}

// input: (n), sums: (blocks)
__global__ void sum_shuffle(int n, float divisor, const float *input, float *sums)
{
    __shared__ float of_warp[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    size_t i = (size_t)blockIdx.x * TILE + threadIdx.x;
    float sum = warp_sum(i < (size_t)n ? input[i] : 0);
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = warp_sum(lane < WARPS ? of_warp[lane] : 0);
        if (lane == 0)
            sums[blockIdx.x] = sum / divisor;
    }
}

static void level(int n, float divisor, const float *input, float *sums, unsigned blocks, cudaStream_t stream)
{
    sum_shuffle<<<blocks, TILE, 0, stream>>>(n, divisor, input, sums);
}

HEDDLE_REDUCTION_RUNGS("05_shuffle", level)
