// CUDA's integer intrinsics on one value: bits, bytes, high halves of products, dot products of bytes.
#pragma once

#include <stdint.h>

#include "sim/keywords.h"
#include "sim/vector_types.h"

SIM_INLINE int __popc(unsigned int x)
{
    return __builtin_popcount(x);
}
SIM_INLINE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
SIM_INLINE int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned int)x);
}
SIM_INLINE int __clzll(long long x)
{
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
SIM_INLINE int __ffs(int x)
{
    return __builtin_ffs(x);
}
SIM_INLINE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

SIM_INLINE unsigned int __brev(unsigned int x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
SIM_INLINE unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned int)x) << 32 | __brev((unsigned int)(x >> 32));
}
SIM_INLINE unsigned short __nv_bswap16(unsigned short x)
{
    return __builtin_bswap16(x);
}
SIM_INLINE unsigned int __nv_bswap32(unsigned int x)
{
    return __builtin_bswap32(x);
}
SIM_INLINE unsigned long long __nv_bswap64(unsigned long long x)
{
    return __builtin_bswap64(x);
}

// Four of the eight bytes of y:x, chosen by the low three bits of each of the selector's four nibbles.
SIM_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector)
{
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned int result = 0;
    for (int at = 0; at < 4; at++)
        result |= (unsigned int)(bytes >> 8 * (selector >> 4 * at & 7) & 0xff) << 8 * at;
    return result;
}

SIM_INLINE int __mul24(int x, int y)
{
    return (int)((unsigned int)((int)((unsigned int)x << 8) >> 8) * (unsigned int)((int)((unsigned int)y << 8) >> 8));
}
SIM_INLINE unsigned int __umul24(unsigned int x, unsigned int y)
{
    return (x & 0xffffffu) * (y & 0xffffffu);
}
SIM_INLINE int __mulhi(int x, int y)
{
    return (int)((int64_t)x * y >> 32);
}
SIM_INLINE unsigned int __umulhi(unsigned int x, unsigned int y)
{
    return (unsigned int)((uint64_t)x * y >> 32);
}
SIM_INLINE long long __mul64hi(long long x, long long y)
{
    return (long long)((__extension__(__int128) x * y) >> 64);
}
SIM_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((__extension__(unsigned __int128) x * y) >> 64);
}
SIM_INLINE int mul24(int x, int y)
{
    return __mul24(x, y);
}
SIM_INLINE unsigned int umul24(unsigned int x, unsigned int y)
{
    return __umul24(x, y);
}
SIM_INLINE int mulhi(int x, int y)
{
    return __mulhi(x, y);
}
SIM_INLINE unsigned int umulhi(unsigned int x, unsigned int y)
{
    return __umulhi(x, y);
}
SIM_INLINE long long mul64hi(long long x, long long y)
{
    return __mul64hi(x, y);
}
SIM_INLINE unsigned long long umul64hi(unsigned long long x, unsigned long long y)
{
    return __umul64hi(x, y);
}

SIM_INLINE unsigned int __sad(int x, int y, unsigned int z)
{
    return (x < y ? (unsigned int)y - (unsigned int)x : (unsigned int)x - (unsigned int)y) + z;
}
SIM_INLINE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z)
{
    return (x < y ? y - x : x - y) + z;
}
SIM_INLINE int __hadd(int x, int y)
{
    return (int)(((int64_t)x + y) >> 1);
}
SIM_INLINE int __rhadd(int x, int y)
{
    return (int)(((int64_t)x + y + 1) >> 1);
}
SIM_INLINE unsigned int __uhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((uint64_t)x + y) >> 1);
}
SIM_INLINE unsigned int __urhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((uint64_t)x + y + 1) >> 1);
}

// 64 bits high:low shifted; the forms with c clamp the shift to 32 where the others take it modulo 32.
SIM_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
SIM_INLINE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIM_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(((uint64_t)high << 32 | low) >> (shift & 31));
}
SIM_INLINE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// The place of the n-th set bit, counted from base upwards, or downwards for a negative n; ~0 where there is none.
SIM_INLINE unsigned int __fns(unsigned int mask, unsigned int base, int n)
{
    const unsigned int none = 0xffffffffu;
    if (n == 0)
        return mask >> (base & 31) & 1 ? base : none;
    int left = n < 0 ? -n : n, step = n < 0 ? -1 : 1;
    for (int at = (int)base; at >= 0 && at < 32; at += step) {
        if (mask >> at & 1 && --left == 0)
            return (unsigned int)at;
    }
    return none;
}

namespace sim
{
// Sums of products of small integers packed into words.
template <class Wide, class Narrow, class Sum> SIM_INLINE Sum dot(unsigned int a, unsigned int b, int count, Sum sum)
{
    for (int at = 0; at < count; at++) {
        sum += (Sum)((Sum)(Wide)a * (Sum)(Narrow)b);
        a >>= 8 * sizeof(Wide);
        b >>= 8 * sizeof(Narrow);
    }
    return sum;
}
template <class Vector> SIM_INLINE unsigned int packed(Vector vector)
{
    unsigned int word;
    static_assert(sizeof(vector) == sizeof(word), "a word");
    __builtin_memcpy(&word, &vector, sizeof(word));
    return word;
}
} // namespace sim

SIM_INLINE int __dp4a(int a, int b, int c)
{
    return (int)sim::dot<int8_t, int8_t, unsigned int>((unsigned int)a, (unsigned int)b, 4, (unsigned int)c);
}
SIM_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c)
{
    return sim::dot<uint8_t, uint8_t, unsigned int>(a, b, 4, c);
}
SIM_INLINE int __dp4a(char4 a, char4 b, int c)
{
    return __dp4a((int)sim::packed(a), (int)sim::packed(b), c);
}
SIM_INLINE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c)
{
    return __dp4a(sim::packed(a), sim::packed(b), c);
}

#define SIM_DOT_2(name, shift)                                                                                         \
    SIM_INLINE int name(int a, int b, int c)                                                                           \
    {                                                                                                                  \
        return (int)sim::dot<int16_t, int8_t, unsigned int>((unsigned int)a, (unsigned int)b >> shift, 2,              \
                                                            (unsigned int)c);                                          \
    }                                                                                                                  \
    SIM_INLINE unsigned int name(unsigned int a, unsigned int b, unsigned int c)                                       \
    {                                                                                                                  \
        return sim::dot<uint16_t, uint8_t, unsigned int>(a, b >> shift, 2, c);                                         \
    }                                                                                                                  \
    SIM_INLINE int name(short2 a, char4 b, int c)                                                                      \
    {                                                                                                                  \
        return name((int)sim::packed(a), (int)sim::packed(b), c);                                                      \
    }                                                                                                                  \
    SIM_INLINE unsigned int name(ushort2 a, uchar4 b, unsigned int c)                                                  \
    {                                                                                                                  \
        return name(sim::packed(a), sim::packed(b), c);                                                                \
    }
SIM_DOT_2(__dp2a_lo, 0)
SIM_DOT_2(__dp2a_hi, 16)
#undef SIM_DOT_2
