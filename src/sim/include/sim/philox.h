// Philox4x32-10 (Salmon and others, 2011), the counter-based generator of cuRAND: ten rounds over a 128-bit counter
// with a 64-bit key. Plain C: kernels and the runtime make their numbers with the same lines.
#pragma once

#include <stdint.h>

static inline void sim_philox_round(uint32_t counter[4], uint32_t key_0, uint32_t key_1)
{
    uint64_t product_0 = (uint64_t)0xD2511F53u * counter[0], product_1 = (uint64_t)0xCD9E8D57u * counter[2];
    uint32_t next_0 = (uint32_t)(product_1 >> 32) ^ counter[1] ^ key_0;
    uint32_t next_2 = (uint32_t)(product_0 >> 32) ^ counter[3] ^ key_1;
    counter[0] = next_0;
    counter[1] = (uint32_t)product_1;
    counter[2] = next_2;
    counter[3] = (uint32_t)product_0;
}

static inline void sim_philox(uint32_t counter[4], uint32_t key_0, uint32_t key_1)
{
    for (int round = 0; round < 10; round++) {
        sim_philox_round(counter, key_0, key_1);
        key_0 += 0x9E3779B9u; // the golden ratio
        key_1 += 0xBB67AE85u; // the square root of 3, less 1
    }
}
