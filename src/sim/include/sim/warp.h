// What the lanes of a warp do together: shuffles, votes, match, reduce. The runtime checks the masks.
#pragma once

#include "sim/abi.h"
#include "sim/bits.h"

#define SIM_ALL_LANES 0xffffffffu

SIM_INLINE unsigned int __activemask()
{
    return sim_active_mask();
}

// The forms without _sync left CUDA with compute capability 7: every lane takes part, which is what they were used for.
#define SIM_SHUFFLE(type, name, operation, argument_type)                                                              \
    SIM_INLINE type __##name##_sync(unsigned int mask, type value, argument_type argument, int width = 32)             \
    {                                                                                                                  \
        return sim::narrowed<type>(sim_warp(operation, mask, sim::widened(value), (int)argument, width));              \
    }                                                                                                                  \
    __attribute__((deprecated("lanes are not in step: use __" #name "_sync with a mask")))                             \
    SIM_INLINE type __##name(type value, argument_type argument, int width = 32)                                       \
    {                                                                                                                  \
        return __##name##_sync(SIM_ALL_LANES, value, argument, width);                                                 \
    }
#define SIM_SHUFFLES(type)                                                                                             \
    SIM_SHUFFLE(type, shfl, SIM_SHUFFLE_INDEX, int)                                                                    \
    SIM_SHUFFLE(type, shfl_up, SIM_SHUFFLE_UP, unsigned int)                                                           \
    SIM_SHUFFLE(type, shfl_down, SIM_SHUFFLE_DOWN, unsigned int)                                                       \
    SIM_SHUFFLE(type, shfl_xor, SIM_SHUFFLE_XOR, int)

SIM_SHUFFLES(int)
SIM_SHUFFLES(unsigned int)
SIM_SHUFFLES(long)
SIM_SHUFFLES(unsigned long)
SIM_SHUFFLES(long long)
SIM_SHUFFLES(unsigned long long)
SIM_SHUFFLES(float)
SIM_SHUFFLES(double)

SIM_INLINE int __all_sync(unsigned int mask, int predicate)
{
    return (int)sim_warp(SIM_ALL, mask, predicate != 0, 0, 32);
}
SIM_INLINE int __any_sync(unsigned int mask, int predicate)
{
    return (int)sim_warp(SIM_ANY, mask, predicate != 0, 0, 32);
}
SIM_INLINE unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    return (unsigned int)sim_warp(SIM_BALLOT, mask, predicate != 0, 0, 32);
}
SIM_INLINE int __uni_sync(unsigned int mask, int predicate)
{
    unsigned int votes = __ballot_sync(mask, predicate);
    return votes == 0 || votes == mask;
}
__attribute__((deprecated("use __all_sync with a mask"))) SIM_INLINE int __all(int predicate)
{
    return __all_sync(SIM_ALL_LANES, predicate);
}
__attribute__((deprecated("use __any_sync with a mask"))) SIM_INLINE int __any(int predicate)
{
    return __any_sync(SIM_ALL_LANES, predicate);
}
__attribute__((deprecated("use __ballot_sync with a mask"))) SIM_INLINE unsigned int __ballot(int predicate)
{
    return __ballot_sync(SIM_ALL_LANES, predicate);
}

#define SIM_MATCH(type)                                                                                                \
    SIM_INLINE unsigned int __match_any_sync(unsigned int mask, type value)                                            \
    {                                                                                                                  \
        return (unsigned int)sim_warp(SIM_MATCH_ANY, mask, sim::widened(value), 0, 32);                                \
    }                                                                                                                  \
    SIM_INLINE unsigned int __match_all_sync(unsigned int mask, type value, int *agreed)                               \
    {                                                                                                                  \
        unsigned int lanes = (unsigned int)sim_warp(SIM_MATCH_ALL, mask, sim::widened(value), 0, 32);                  \
        *agreed = lanes != 0;                                                                                          \
        return lanes;                                                                                                  \
    }

SIM_MATCH(int)
SIM_MATCH(unsigned int)
SIM_MATCH(long)
SIM_MATCH(unsigned long)
SIM_MATCH(long long)
SIM_MATCH(unsigned long long)
SIM_MATCH(float)
SIM_MATCH(double)

#define SIM_REDUCE(type, name, operation)                                                                              \
    SIM_INLINE type __reduce_##name##_sync(unsigned int mask, type value)                                              \
    {                                                                                                                  \
        return (type)sim_warp(operation, mask, (unsigned int)value, 0, 32);                                            \
    }

SIM_REDUCE(unsigned int, add, SIM_REDUCE_ADD)
SIM_REDUCE(unsigned int, min, SIM_REDUCE_MIN)
SIM_REDUCE(unsigned int, max, SIM_REDUCE_MAX)
SIM_REDUCE(int, add, SIM_REDUCE_ADD)
SIM_REDUCE(int, min, SIM_REDUCE_MIN_SIGNED)
SIM_REDUCE(int, max, SIM_REDUCE_MAX_SIGNED)
SIM_REDUCE(unsigned int, and, SIM_REDUCE_AND)
SIM_REDUCE(unsigned int, or, SIM_REDUCE_OR)
SIM_REDUCE(unsigned int, xor, SIM_REDUCE_XOR)
