// topk, rung 2: one warp per row, one pass. The best 64 so far stay sorted in the warp's registers, two per lane.
//
// Rung 1 read the row k times. Here a warp takes 64 elements at a time. If none of them beats the k-th best so far,
// which in a long row is the rule, they are forgotten. Otherwise a bitonic network sorts them, the larger of each pair
// (best first, new worst first) are the best 64 of both, and the network's last steps put these in order: shuffles
// alone, neither shared memory nor barriers.
//
// Limited by: sorting while the best still change, and by one warp per row: few rows leave the GPU idle.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/topk/key.h"

enum {
    WARP = 32,
    WARPS = 4,          // per block
    HELD = 2,           // keys per lane
    BEST = HELD * WARP, // as many as k may be
    GROUPS = 4,         // of 64 elements whose loads are in flight at once
};
static const unsigned ALL_LANES = 0xffffffffu;

// Number e = lane + 32 h of the warp's 64 is key[h] of a lane. Compares those whose numbers differ by `distance` and
// leaves the larger with the lower number where `down` says so, else with the higher one.
__device__ static inline void exchange(topk_key (&key)[HELD], int distance, bool down0, bool down1)
{
    if (distance == WARP) { // both in one lane
        topk_key larger = key[0] > key[1] ? key[0] : key[1], smaller = key[0] > key[1] ? key[1] : key[0];
        key[0] = down0 ? larger : smaller;
        key[1] = down0 ? smaller : larger;
        return;
    }
    const bool lower = (threadIdx.x & distance) == 0;
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        topk_key other = __shfl_xor_sync(ALL_LANES, key[h], distance);
        bool larger = lower == (h == 0 ? down0 : down1);
        key[h] = larger == (key[h] > other) ? key[h] : other;
    }
}

// The smallest first.
__device__ static inline void sort_up(topk_key (&key)[HELD])
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int size = 2; size <= BEST; size *= 2)
#pragma unroll
        for (int distance = size / 2; distance > 0; distance /= 2)
            exchange(key, distance, (lane & size) != 0, ((lane + WARP) & size) != 0);
}

// Takes up 64 new keys: `best` stays sorted, the largest first.
__device__ static inline void take(topk_key (&best)[HELD], topk_key (&added)[HELD])
{
    sort_up(added);
#pragma unroll
    for (int h = 0; h < HELD; h++)
        best[h] = best[h] > added[h] ? best[h] : added[h];
#pragma unroll
    for (int distance = WARP; distance > 0; distance /= 2)
        exchange(best, distance, true, true);
}

// input: (rows, cols), values and indices: (rows, k)
__global__ void __launch_bounds__(WARP *WARPS)
    topk_warp_select(heddle_topk_shape shape, const float *input, float *values, int32_t *indices)
{
    const int lane = threadIdx.x % WARP;
    const size_t r = (size_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (r >= (size_t)shape.rows) // a whole warp
        return;
    const float *row = input + r * shape.cols;
    topk_key best[HELD] = {0, 0}, worst = 0;
    for (int first = 0; first < shape.cols; first += GROUPS * BEST) {
        float value[GROUPS][HELD];
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int h = 0; h < HELD; h++) {
                int j = first + g * BEST + h * WARP + lane;
                value[g][h] = j < shape.cols ? row[j] : 0;
            }
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            topk_key added[HELD];
#pragma unroll
            for (int h = 0; h < HELD; h++) {
                int j = first + g * BEST + h * WARP + lane;
                added[h] = j < shape.cols ? topk_key_of(value[g][h], j) : 0;
            }
            if (!__any_sync(ALL_LANES, added[0] > worst || added[1] > worst))
                continue;
            take(best, added);
            worst = __shfl_sync(ALL_LANES, shape.k > WARP ? best[1] : best[0], (shape.k - 1) % WARP);
        }
    }
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int place = h * WARP + lane, index = topk_index_of(best[h]);
        if (place < shape.k) {
            values[r * shape.k + place] = row[index];
            indices[r * shape.k + place] = index;
        }
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_topk_shape *shape = (const heddle_topk_shape *)call->shape;
    if (shape->rows > 0)
        topk_warp_select<<<heddle_ceil_div(shape->rows, WARPS), WARP * WARPS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0], (int32_t *)call->output[1]);
    return heddle_cuda_launched("02_warp_select");
}

HEDDLE_CUDA_RUNG("topk", "02_warp_select", launch)
