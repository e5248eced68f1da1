// What the radix sorts share, rungs 3 and 4: a tile of keys in registers, the place of each among the keys of its
// digit, and sums over a block.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/sort/key.h"
#include "ops/sort/sort.h"

enum {
    SORT_THREADS = 256,
    SORT_WARP = 32,
    SORT_WARPS = SORT_THREADS / SORT_WARP,
    SORT_TILE = HEDDLE_SORT_TILE,
    SORT_ROWS = SORT_TILE / SORT_THREADS, // of a warp, one key per lane each
    SORT_BITS = 8,
    SORT_DIGITS = 1 << SORT_BITS, // as many as a block has threads
    SORT_KEY_BITS = 32,
};
static const unsigned SORT_LANES = 0xffffffffu;

__device__ static inline int sort_digit(float key, int shift)
{
    return sort_bits(key) >> shift & (SORT_DIGITS - 1);
}

// Where this lane's key of a row is in its tile: a warp has adjacent rows of 32 adjacent keys.
__device__ static inline int sort_place(int row)
{
    const int lane = threadIdx.x % SORT_WARP, warp = threadIdx.x / SORT_WARP;
    return (warp * SORT_ROWS + row) * SORT_WARP + lane;
}

// How many keys a tile has.
__device__ static inline int sort_left(int n, int tile)
{
    const long long left = n - (long long)tile * SORT_TILE;
    return left < SORT_TILE ? (int)left : SORT_TILE;
}

// The lanes whose digit is this lane's: a vote for each bit. __match_any_sync compares one lane's digit after another.
__device__ static inline unsigned sort_same(int digit, bool valid)
{
    const unsigned keys = __ballot_sync(SORT_LANES, valid);
    unsigned same = valid ? keys : ~keys;
#pragma unroll
    for (int bit = 0; bit < SORT_BITS; bit++) {
        const bool set = digit >> bit & 1;
        const unsigned votes = __ballot_sync(SORT_LANES, set);
        same &= set ? votes : ~votes;
    }
    return same;
}

// The first `left` places have keys. counts: (warps, digits) becomes how many keys of a digit a warp has, and rank how
// many of them come before this lane's.
__device__ static inline void sort_rank(const float key[SORT_ROWS], int left, int shift, int (*counts)[SORT_DIGITS],
                                        int rank[SORT_ROWS])
{
    const int warp = threadIdx.x / SORT_WARP;
    const unsigned below = (1u << threadIdx.x % SORT_WARP) - 1;
    for (int w = 0; w < SORT_WARPS; w++)
        counts[w][threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int row = 0; row < SORT_ROWS; row++) {
        const bool valid = sort_place(row) < left;
        const int digit = sort_digit(key[row], shift);
        const unsigned same = sort_same(digit, valid), earlier = same & below;
        const int seen = valid ? counts[warp][digit] : 0; // in earlier rows
        __syncwarp();
        if (valid && earlier == 0) // one lane for all with its digit
            counts[warp][digit] = seen + __popc(same);
        __syncwarp();
        rank[row] = seen + __popc(earlier);
    }
    __syncthreads();
}

// Turns this thread's digit's counts into sums over the warps before each. Returns the sum over all.
__device__ static inline int sort_add_warps(int (*counts)[SORT_DIGITS])
{
    int sum = 0;
    for (int w = 0; w < SORT_WARPS; w++) {
        const int count = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = sum;
        sum += count;
    }
    return sum;
}

// The sum of `value` over this lane and those before it.
__device__ static inline int sort_sum_lanes(int value)
{
    for (int distance = 1; distance < SORT_WARP; distance *= 2) {
        const int before = __shfl_up_sync(SORT_LANES, value, distance);
        value += (int)(threadIdx.x % SORT_WARP) >= distance ? before : 0;
    }
    return value;
}

// The sum of `value` over the threads before this one; *total: over all.
__device__ static inline int sort_sum_before(int value, int *total)
{
    __shared__ int of_warp[SORT_WARPS];
    const int lane = threadIdx.x % SORT_WARP, warp = threadIdx.x / SORT_WARP;
    const int sum = sort_sum_lanes(value);
    int before = 0;
    if (lane == SORT_WARP - 1)
        of_warp[warp] = sum;
    __syncthreads();
    *total = 0;
    for (int w = 0; w < SORT_WARPS; w++) {
        before += w < warp ? of_warp[w] : 0;
        *total += of_warp[w];
    }
    __syncthreads(); // all have read before the next call
    return before + sum - value;
}
