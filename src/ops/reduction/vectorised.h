// The grid that adds: it fills the GPU once, each thread adds many elements with 16-byte loads, each block builds one
// tree, and a second launch of one block adds the sums of the blocks. For reduction's last rung, and for dot's, which
// multiplies two operands on the way.
#pragma once

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    HEDDLE_SUM_THREADS = 512,
    HEDDLE_SUM_WARP = 32,
    HEDDLE_SUM_WARPS = HEDDLE_SUM_THREADS / HEDDLE_SUM_WARP,
    HEDDLE_SUM_BLOCKS_AN_SM = 4, // 2048 threads: the most an SM holds
    HEDDLE_SUM_LOADS = 4,        // of each operand in flight at once, per thread
    HEDDLE_SUM_TILE = HEDDLE_SUM_THREADS * HEDDLE_SUM_LOADS * HEDDLE_VECTOR,
};

__device__ static inline float heddle_warp_sum(float value)
{
    for (int distance = HEDDLE_SUM_WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value; // of all lanes, in lane 0
}

// Sum over all threads, in thread 0.
__device__ static inline float heddle_block_sum(float value)
{
    __shared__ float of_warp[HEDDLE_SUM_WARPS];
    int lane = threadIdx.x % HEDDLE_SUM_WARP, warp = threadIdx.x / HEDDLE_SUM_WARP;
    value = heddle_warp_sum(value);
    if (lane == 0)
        of_warp[warp] = value;
    __syncthreads();
    return warp == 0 ? heddle_warp_sum(lane < HEDDLE_SUM_WARPS ? of_warp[lane] : 0) : 0;
}

// What a whole tile adds to the thread's sum. All loads are issued before the first addition.
template <bool aligned, bool products> __device__ static float heddle_tile_sum(const float *input, const float *factor)
{
    float4 value[HEDDLE_SUM_LOADS], times[HEDDLE_SUM_LOADS];
#pragma unroll
    for (int i = 0; i < HEDDLE_SUM_LOADS; i++) {
        int at = HEDDLE_VECTOR * (threadIdx.x + i * HEDDLE_SUM_THREADS);
        value[i] = heddle_load4<aligned>(input + at);
        times[i] = products ? heddle_load4<aligned>(factor + at) : make_float4(1, 1, 1, 1);
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < HEDDLE_SUM_LOADS; i++)
        sum +=
            (value[i].x * times[i].x + value[i].y * times[i].y) + (value[i].z * times[i].z + value[i].w * times[i].w);
    return sum;
}

// input, and factor if it is multiplied by one: (n), sums: (gridDim.x)
template <bool aligned, bool products>
__global__ void __launch_bounds__(HEDDLE_SUM_THREADS)
    sum_vectorised(int n, float divisor, const float *input, const float *factor, float *sums)
{
    float sum = 0;
    long long tiles = n / HEDDLE_SUM_TILE;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        sum += heddle_tile_sum<aligned, products>(input + tile * HEDDLE_SUM_TILE,
                                                  products ? factor + tile * HEDDLE_SUM_TILE : nullptr);
    if (blockIdx.x == 0) // the elements that no whole tile covers
        for (long long i = tiles * HEDDLE_SUM_TILE + threadIdx.x; i < n; i += HEDDLE_SUM_THREADS)
            sum += products ? input[i] * factor[i] : input[i];
    sum = heddle_block_sum(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum / divisor;
}

// Queues output (1) = Σ input / divisor, or Σ input * factor / divisor. sums: one float per block.
template <bool products>
static void heddle_sum_queue(int n, float divisor, const float *input, const float *factor, float *sums, float *output,
                             cudaStream_t stream)
{
    unsigned tiles = (unsigned)(n / HEDDLE_SUM_TILE), most = HEDDLE_SUM_BLOCKS_AN_SM * heddle_cuda_multiprocessors();
    unsigned blocks = tiles < most ? tiles : most;
    bool aligned = heddle_aligned16(input) && heddle_aligned16(factor), twice = blocks > 1;
    (aligned ? sum_vectorised<true, products>
             : sum_vectorised<false, products>)<<<twice ? blocks : 1, HEDDLE_SUM_THREADS, 0, stream>>>(
        n, twice ? 1.0f : divisor, input, factor, twice ? sums : output);
    if (twice)
        sum_vectorised<true, false><<<1, HEDDLE_SUM_THREADS, 0, stream>>>((int)blocks, divisor, sums, nullptr, output);
}
