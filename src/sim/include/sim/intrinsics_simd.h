// CUDA's intrinsics on two halfwords or four bytes of a word at once, and the fused minima and maxima.
#pragma once

#include <stdint.h>

#include "sim/keywords.h"

namespace sim
{
SIM_INLINE constexpr int clamped(int value, int lowest, int highest)
{
    return value < lowest ? lowest : value > highest ? highest : value;
}
template <class Lane> struct lane_limits {
    enum {
        bits = 8 * sizeof(Lane),
        is_signed = (Lane)-1 < (Lane)1,
        highest = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1,
        lowest = is_signed ? -(1 << (bits - 1)) : 0
    };
};
template <class Lane> SIM_INLINE constexpr int saturated(int value)
{
    return clamped(value, lane_limits<Lane>::lowest, lane_limits<Lane>::highest);
}
SIM_INLINE constexpr int size_of_number(int value)
{
    return value < 0 ? -value : value;
}
} // namespace sim

// `expression` of the lanes a and b (and c), lane by lane; the words are a_word and so on.
#define SIM_EACH_LANE(Lane, words, expression)                                                                         \
    {                                                                                                                  \
        unsigned int result = 0;                                                                                       \
        for (unsigned int at = 0; at < 32; at += 8 * sizeof(Lane)) {                                                   \
            words result |= ((unsigned int)(expression) & (0xffffffffu >> (32 - 8 * sizeof(Lane)))) << at;             \
        }                                                                                                              \
        return result;                                                                                                 \
    }
#define SIM_LANE(name) const int name = (Lane)(name##_word >> at);
#define SIM_LANES_1(name, lane, expression)                                                                            \
    SIM_INLINE unsigned int name(unsigned int a_word)                                                                  \
    {                                                                                                                  \
        typedef lane Lane;                                                                                             \
        SIM_EACH_LANE(Lane, SIM_LANE(a), expression)                                                                   \
    }
#define SIM_LANES_2(name, lane, expression)                                                                            \
    SIM_INLINE unsigned int name(unsigned int a_word, unsigned int b_word)                                             \
    {                                                                                                                  \
        typedef lane Lane;                                                                                             \
        SIM_EACH_LANE(Lane, SIM_LANE(a) SIM_LANE(b), expression)                                                       \
    }
#define SIM_LANES_3(name, lane, expression)                                                                            \
    SIM_INLINE unsigned int name(unsigned int a_word, unsigned int b_word, unsigned int c_word)                        \
    {                                                                                                                  \
        typedef lane Lane;                                                                                             \
        SIM_EACH_LANE(Lane, SIM_LANE(a) SIM_LANE(b) SIM_LANE(c), expression)                                           \
    }

#define SIM_LANES_SUM(name, lane)                                                                                      \
    SIM_INLINE unsigned int name(unsigned int a_word, unsigned int b_word)                                             \
    {                                                                                                                  \
        typedef lane Lane;                                                                                             \
        unsigned int sum = 0;                                                                                          \
        for (unsigned int at = 0; at < 32; at += 8 * sizeof(Lane)) {                                                   \
            SIM_LANE(a) SIM_LANE(b) sum += (unsigned int)sim::size_of_number(a - b);                                   \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

#define SIM_LANES_COMPARE(name, suffix, lane, comparison)                                                              \
    SIM_LANES_2(__vcmp##name##suffix, lane, comparison ? -1 : 0)                                                       \
    SIM_LANES_2(__vset##name##suffix, lane, comparison ? 1 : 0)

#define SIM_LANES_ALL(suffix, signed_lane, unsigned_lane)                                                              \
    SIM_LANES_1(__vabs##suffix, signed_lane, a < 0 ? -a : a)                                                           \
    SIM_LANES_1(__vabsss##suffix, signed_lane, sim::saturated<Lane>(a < 0 ? -a : a))                                   \
    SIM_LANES_1(__vneg##suffix, signed_lane, -a)                                                                       \
    SIM_LANES_1(__vnegss##suffix, signed_lane, sim::saturated<Lane>(-a))                                               \
    SIM_LANES_2(__vadd##suffix, unsigned_lane, a + b)                                                                  \
    SIM_LANES_2(__vaddss##suffix, signed_lane, sim::saturated<Lane>(a + b))                                            \
    SIM_LANES_2(__vaddus##suffix, unsigned_lane, sim::saturated<Lane>(a + b))                                          \
    SIM_LANES_2(__vsub##suffix, unsigned_lane, a - b)                                                                  \
    SIM_LANES_2(__vsubss##suffix, signed_lane, sim::saturated<Lane>(a - b))                                            \
    SIM_LANES_2(__vsubus##suffix, unsigned_lane, sim::saturated<Lane>(a - b))                                          \
    SIM_LANES_2(__vavgs##suffix, signed_lane, (a + b + (a + b >= 0)) >> 1)                                             \
    SIM_LANES_2(__vavgu##suffix, unsigned_lane, (a + b + 1) >> 1)                                                      \
    SIM_LANES_2(__vhaddu##suffix, unsigned_lane, (a + b) >> 1)                                                         \
    SIM_LANES_2(__vabsdiffs##suffix, signed_lane, sim::size_of_number(a - b))                                          \
    SIM_LANES_2(__vabsdiffu##suffix, unsigned_lane, sim::size_of_number(a - b))                                        \
    SIM_LANES_2(__vmins##suffix, signed_lane, a < b ? a : b)                                                           \
    SIM_LANES_2(__vminu##suffix, unsigned_lane, a < b ? a : b)                                                         \
    SIM_LANES_2(__vmaxs##suffix, signed_lane, a < b ? b : a)                                                           \
    SIM_LANES_2(__vmaxu##suffix, unsigned_lane, a < b ? b : a)                                                         \
    SIM_LANES_SUM(__vsads##suffix, signed_lane)                                                                        \
    SIM_LANES_SUM(__vsadu##suffix, unsigned_lane)                                                                      \
    SIM_LANES_COMPARE(eq, suffix, unsigned_lane, (a == b))                                                             \
    SIM_LANES_COMPARE(ne, suffix, unsigned_lane, (a != b))                                                             \
    SIM_LANES_COMPARE(ges, suffix, signed_lane, (a >= b))                                                              \
    SIM_LANES_COMPARE(geu, suffix, unsigned_lane, (a >= b))                                                            \
    SIM_LANES_COMPARE(gts, suffix, signed_lane, (a > b))                                                               \
    SIM_LANES_COMPARE(gtu, suffix, unsigned_lane, (a > b))                                                             \
    SIM_LANES_COMPARE(les, suffix, signed_lane, (a <= b))                                                              \
    SIM_LANES_COMPARE(leu, suffix, unsigned_lane, (a <= b))                                                            \
    SIM_LANES_COMPARE(lts, suffix, signed_lane, (a < b))                                                               \
    SIM_LANES_COMPARE(ltu, suffix, unsigned_lane, (a < b))
SIM_LANES_ALL(2, int16_t, uint16_t)
SIM_LANES_ALL(4, int8_t, uint8_t)

// --- minima and maxima of sums and of three values ------------------------------------------------------------------

#define SIM_MINIMUM(x, y) ((x) < (y) ? (x) : (y))
#define SIM_MAXIMUM(x, y) ((x) < (y) ? (y) : (x))
#define SIM_FUSED_PAIRS(type, lane)                                                                                    \
    SIM_LANES_3(__viaddmax_##type, lane, SIM_MAXIMUM((Lane)(a + b), c))                                                \
    SIM_LANES_3(__viaddmin_##type, lane, SIM_MINIMUM((Lane)(a + b), c))                                                \
    SIM_LANES_3(__vimax3_##type, lane, SIM_MAXIMUM(SIM_MAXIMUM(a, b), c))                                              \
    SIM_LANES_3(__vimin3_##type, lane, SIM_MINIMUM(SIM_MINIMUM(a, b), c))                                              \
    SIM_INLINE unsigned int __vibmax_##type(unsigned int a, unsigned int b, bool *high, bool *low)                     \
    {                                                                                                                  \
        *high = (lane)(a >> 16) >= (lane)(b >> 16);                                                                    \
        *low = (lane)a >= (lane)b;                                                                                     \
        return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);                                           \
    }                                                                                                                  \
    SIM_INLINE unsigned int __vibmin_##type(unsigned int a, unsigned int b, bool *high, bool *low)                     \
    {                                                                                                                  \
        *high = (lane)(a >> 16) <= (lane)(b >> 16);                                                                    \
        *low = (lane)a <= (lane)b;                                                                                     \
        return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);                                           \
    }
SIM_FUSED_PAIRS(s16x2, int16_t)
SIM_FUSED_PAIRS(u16x2, uint16_t)
SIM_LANES_3(__viaddmax_s16x2_relu, int16_t, SIM_MAXIMUM(SIM_MAXIMUM((Lane)(a + b), c), 0))
SIM_LANES_3(__viaddmin_s16x2_relu, int16_t, SIM_MAXIMUM(SIM_MINIMUM((Lane)(a + b), c), 0))
SIM_LANES_3(__vimax3_s16x2_relu, int16_t, SIM_MAXIMUM(SIM_MAXIMUM(SIM_MAXIMUM(a, b), c), 0))
SIM_LANES_3(__vimin3_s16x2_relu, int16_t, SIM_MAXIMUM(SIM_MINIMUM(SIM_MINIMUM(a, b), c), 0))
SIM_LANES_2(__vimax_s16x2_relu, int16_t, SIM_MAXIMUM(SIM_MAXIMUM(a, b), 0))
SIM_LANES_2(__vimin_s16x2_relu, int16_t, SIM_MAXIMUM(SIM_MINIMUM(a, b), 0))

#define SIM_FUSED_3(name, type, expression)                                                                            \
    SIM_INLINE type name(type a, type b, type c)                                                                       \
    {                                                                                                                  \
        const type sum = (type)((unsigned int)a + (unsigned int)b);                                                    \
        (void)sum;                                                                                                     \
        return expression;                                                                                             \
    }
#define SIM_FUSED_WORDS(suffix, type)                                                                                  \
    SIM_FUSED_3(__viaddmax_##suffix, type, SIM_MAXIMUM(sum, c))                                                        \
    SIM_FUSED_3(__viaddmin_##suffix, type, SIM_MINIMUM(sum, c))                                                        \
    SIM_FUSED_3(__vimax3_##suffix, type, SIM_MAXIMUM(SIM_MAXIMUM(a, b), c))                                            \
    SIM_FUSED_3(__vimin3_##suffix, type, SIM_MINIMUM(SIM_MINIMUM(a, b), c))                                            \
    SIM_INLINE type __vibmax_##suffix(type a, type b, bool *first)                                                     \
    {                                                                                                                  \
        *first = a >= b;                                                                                               \
        return *first ? a : b;                                                                                         \
    }                                                                                                                  \
    SIM_INLINE type __vibmin_##suffix(type a, type b, bool *first)                                                     \
    {                                                                                                                  \
        *first = a <= b;                                                                                               \
        return *first ? a : b;                                                                                         \
    }
SIM_FUSED_WORDS(s32, int)
SIM_FUSED_WORDS(u32, unsigned int)
SIM_FUSED_3(__viaddmax_s32_relu, int, SIM_MAXIMUM(SIM_MAXIMUM(sum, c), 0))
SIM_FUSED_3(__viaddmin_s32_relu, int, SIM_MAXIMUM(SIM_MINIMUM(sum, c), 0))
SIM_FUSED_3(__vimax3_s32_relu, int, SIM_MAXIMUM(SIM_MAXIMUM(SIM_MAXIMUM(a, b), c), 0))
SIM_FUSED_3(__vimin3_s32_relu, int, SIM_MAXIMUM(SIM_MINIMUM(SIM_MINIMUM(a, b), c), 0))
SIM_INLINE int __vimax_s32_relu(int a, int b)
{
    return SIM_MAXIMUM(SIM_MAXIMUM(a, b), 0);
}
SIM_INLINE int __vimin_s32_relu(int a, int b)
{
    return SIM_MAXIMUM(SIM_MINIMUM(a, b), 0);
}

#undef SIM_FUSED_3
#undef SIM_FUSED_WORDS
#undef SIM_FUSED_PAIRS
#undef SIM_MINIMUM
#undef SIM_MAXIMUM
#undef SIM_LANES_ALL
#undef SIM_LANES_COMPARE
#undef SIM_LANES_SUM
#undef SIM_LANES_1
#undef SIM_LANES_2
#undef SIM_LANES_3
#undef SIM_LANE
#undef SIM_EACH_LANE
