// Random numbers by counter: Philox 4x32-10 (Salmon et al., SC'11). The same seed and position give the same numbers on
// every machine and device, and any position can be reached at once, so a resumed run draws what the first would have.
#ifndef HEDDLE_RANDOM_H
#define HEDDLE_RANDOM_H

#include <stdint.h>

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// The bare function: four 32-bit words from a 128-bit counter and a 64-bit key.
HEDDLE_API void heddle_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t output[4]);

// A stream of numbers: `seed` is the key, `sequence` keeps independent uses apart, `position` counts 32-bit words
// drawn. The whole state is these three numbers; write them down to continue later.
typedef struct heddle_random {
    uint64_t seed;
    uint64_t sequence;
    uint64_t position;
} heddle_random;

HEDDLE_API heddle_random heddle_random_make(uint64_t seed, uint64_t sequence);
HEDDLE_API uint32_t heddle_random_u32(heddle_random *random);
// Uniform in [0, bound), without bias. bound must not be 0.
HEDDLE_API uint32_t heddle_random_below(heddle_random *random, uint32_t bound);
// Uniform in [0, 1), 24 bits.
HEDDLE_API float heddle_random_uniform(heddle_random *random);
// Mean 0, variance 1 (Box-Muller; draws two words).
HEDDLE_API float heddle_random_normal(heddle_random *random);
// A random order of 0 .. count-1 (Fisher-Yates).
HEDDLE_API void heddle_random_permutation(heddle_random *random, uint32_t *order, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
