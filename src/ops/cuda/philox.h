// Random words in a kernel: the same Philox 4x32-10 and the same numbering of words as include/heddle/random.h, so that
// every device draws the same numbers.
#pragma once

#include <stdint.h>

#include <cuda_runtime.h>

enum {
    HEDDLE_PHILOX_ROUNDS = 10,
    HEDDLE_PHILOX_WORDS = 4, // per block
    HEDDLE_PHILOX_WORD_BITS = 32,
    HEDDLE_PHILOX_UNIFORM_BITS = 24, // a float's significand
};

// Block `block` of a stream of numbers: its words 4 * block to 4 * block + 3.
__device__ static inline uint4 heddle_cuda_philox(uint64_t seed, uint64_t sequence, uint64_t block)
{
    const uint32_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
    const uint32_t key_step0 = 0x9E3779B9, key_step1 = 0xBB67AE85; // golden ratio, sqrt(3) - 1
    uint4 x = make_uint4((uint32_t)block, (uint32_t)(block >> HEDDLE_PHILOX_WORD_BITS), (uint32_t)sequence,
                         (uint32_t)(sequence >> HEDDLE_PHILOX_WORD_BITS));
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> HEDDLE_PHILOX_WORD_BITS);
    for (int round = 0; round < HEDDLE_PHILOX_ROUNDS; round++) {
        uint32_t high0 = __umulhi(multiplier0, x.x), low0 = multiplier0 * x.x;
        uint32_t high1 = __umulhi(multiplier1, x.z), low1 = multiplier1 * x.z;
        x = make_uint4(high1 ^ x.y ^ key0, low1, high0 ^ x.w ^ key1, low0);
        key0 += key_step0;
        key1 += key_step1;
    }
    return x;
}

// Word `position` of a stream of numbers.
__device__ static inline uint32_t heddle_cuda_random_word(uint64_t seed, uint64_t sequence, uint64_t position)
{
    uint4 words = heddle_cuda_philox(seed, sequence, position / HEDDLE_PHILOX_WORDS);
    switch (position % HEDDLE_PHILOX_WORDS) {
    case 0: return words.x;
    case 1: return words.y;
    case 2: return words.z;
    default: return words.w;
    }
}

// A word as a number in [0, 1).
__device__ static inline float heddle_cuda_uniform(uint32_t word)
{
    return (float)(word >> (HEDDLE_PHILOX_WORD_BITS - HEDDLE_PHILOX_UNIFORM_BITS)) * 0x1p-24f;
}
