// A bitonic network over words of a key and its index, which rungs 1 and 2 share. Two runs that are sorted are merged
// by comparing each word with its mirror in the other run, then those at half the distance, at a quarter, and so on.
// Every comparison leaves the smaller word in front, so a network for a power of two sorts any number: the words that
// are missing at the end would be larger than all others, and never move.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/sort/key.h"

typedef unsigned long long sort_word; // a key's bits above its index: no two are equal, so equal keys keep their order

typedef struct sort_pair {
    size_t low, high;
} sort_pair;

// Comparison number i of a step that begins a merge to runs of `size`, each word with its mirror.
__host__ __device__ static inline sort_pair sort_mirrored(size_t i, size_t size)
{
    const size_t place = i % (size / 2), begin = i / (size / 2) * size;
    return sort_pair{begin + place, begin + size - 1 - place};
}

// Of a later step, each word with the one at this distance.
__host__ __device__ static inline sort_pair sort_apart(size_t i, size_t distance)
{
    const size_t low = i / distance * (2 * distance) + i % distance;
    return sort_pair{low, low + distance};
}

// keys, words: (n)
static __global__ void sort_make_words(int n, const float *keys, sort_word *words)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        words[i] = (sort_word)sort_bits(keys[i]) << 32 | i;
}

// One step, one thread per comparison. `distance` 0: of mirrored words.
static __global__ void sort_compare(int n, size_t size, size_t distance, sort_word *words)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const sort_pair pair = distance == 0 ? sort_mirrored(i, size) : sort_apart(i, distance);
    if (pair.high >= (size_t)n)
        return;
    const sort_word low = words[pair.low], high = words[pair.high];
    if (low > high) {
        words[pair.low] = high;
        words[pair.high] = low;
    }
}

// All of: (n)
static __global__ void sort_take(int n, const sort_word *words, const float *keys, const int *values,
                                 float *sorted_keys, int *sorted_values)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    const unsigned index = (unsigned)words[i];
    sorted_keys[i] = keys[index];
    sorted_values[i] = values[index];
}

// The smallest power of two that is at least n.
static inline size_t sort_power(size_t n)
{
    size_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}
