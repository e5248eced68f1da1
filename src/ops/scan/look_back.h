// The words by which the tiles of a scan tell each other their sums: floats in scan's rungs 3 and 4, counts in
// select's.
//
// A tile's word holds its value and its state in 64 bits, written in one step, so no reader sees one without the other.
#pragma once

#include <cuda/atomic>

#include "ops/cuda/rung.h"

enum { SCAN_WARP = 32 };
static const unsigned SCAN_LANES = 0xffffffffu;

typedef unsigned long long scan_word;
enum { SCAN_NOTHING = 0, SCAN_TOTAL = 1, SCAN_RUNNING_SUM = 2 }; // what a tile has published: the upper half

__device__ static inline scan_word scan_pack(unsigned state, float value)
{
    return (scan_word)state << 32 | __float_as_uint(value);
}
__device__ static inline scan_word scan_pack(unsigned state, int value)
{
    return (scan_word)state << 32 | (unsigned)value;
}

__device__ static inline void scan_unpack(scan_word word, float *value)
{
    *value = __uint_as_float((unsigned)word);
}
__device__ static inline void scan_unpack(scan_word word, int *value)
{
    *value = (int)(unsigned)word;
}

template <class number> __device__ static inline void scan_publish(scan_word *word, unsigned state, number value)
{
    cuda::atomic_ref<scan_word, cuda::thread_scope_device>(*word).store(scan_pack(state, value),
                                                                        cuda::memory_order_relaxed);
}

__device__ static inline scan_word scan_look(scan_word *word)
{
    return cuda::atomic_ref<scan_word, cuda::thread_scope_device>(*word).load(cuda::memory_order_relaxed);
}

// The sum of everything before `tile`, found by one warp: each lane looks at `words_per_lane` of the tiles before it at
// a time, until one of them has a running sum.
template <int words_per_lane, class number = float>
__device__ static inline number scan_look_back(scan_word *words, int tile)
{
    int lane = threadIdx.x % SCAN_WARP;
    number before = 0; // this lane's part
    bool found = false;
    for (int last = tile - 1; !found; last -= SCAN_WARP * words_per_lane) {
        scan_word word[words_per_lane]; // all are loaded before the first is used
#pragma unroll
        for (int w = 0; w < words_per_lane; w++) {
            int at = last - w * SCAN_WARP - lane;
            word[w] = at >= 0 ? scan_look(&words[at]) : scan_pack(SCAN_RUNNING_SUM, number(0)); // none before
        }
#pragma unroll
        for (int w = 0; w < words_per_lane; w++) {
            if (found)
                continue;
            while (word[w] >> 32 == SCAN_NOTHING) {
                __nanosleep(20);
                word[w] = scan_look(&words[last - w * SCAN_WARP - lane]);
            }
            unsigned complete = __ballot_sync(SCAN_LANES, word[w] >> 32 == SCAN_RUNNING_SUM);
            int nearest = complete ? __ffs(complete) - 1 : SCAN_WARP - 1; // its running sum holds tiles further back
            number value;
            scan_unpack(word[w], &value);
            before += lane <= nearest ? value : 0;
            found = complete != 0;
        }
    }
    for (int distance = SCAN_WARP / 2; distance > 0; distance /= 2)
        before += __shfl_xor_sync(SCAN_LANES, before, distance);
    return before;
}
