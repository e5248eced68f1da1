// What the rewriter makes of inline PTX calls these: operands seen as the types of an instruction, addresses, and the
// few instructions that C++ has no operator for. Included only where a file has inline PTX.
#pragma once

#include <limits>
#include <math.h>
#include <stdint.h>
#include <type_traits>

#include "sim/abi.h"
#include "sim/keywords.h"
#include "sim/memory_access.h"

#include "cuda_pipeline_primitives.h"
#include "sim/mma.h"
#include "sim/narrow.h"

extern __thread char sim_dynamic_buffer[];

namespace sim
{

// A register has no type, only a size: the same size is the same bits, another size is a conversion.
template <class To, class From> SIM_INLINE To ptx_convert(const From &from, std::true_type)
{
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}
template <class To, class From> SIM_INLINE To ptx_convert(const From &from, std::false_type)
{
    return (To)from;
}
template <class To, class From> SIM_INLINE To ptx_get(const From &from)
{
    return ptx_convert<To>(from, std::integral_constant<bool, sizeof(To) == sizeof(From)>());
}
template <class To, class From> SIM_INLINE void ptx_set(To &to, const From &from)
{
    to = ptx_get<To>(from);
}

struct ptx_sink_type {
};
SIM_INLINE ptx_sink_type &ptx_sink()
{
    static ptx_sink_type sink;
    return sink;
}
template <class From> SIM_INLINE void ptx_set(ptx_sink_type &, const From &)
{
}

// 32 bits are an address in shared memory, whose upper half is the same for all of a block.
template <class Address> SIM_INLINE char *ptx_address(const Address &address, long offset)
{
    if constexpr (sizeof(Address) == sizeof(uint32_t)) {
        uintptr_t base = (uintptr_t)sim_dynamic_buffer;
        return (char *)(base + (uintptr_t)(intptr_t)(int32_t)(ptx_get<uint32_t>(address) - (uint32_t)base)) + offset;
    } else
        return (char *)ptx_get<uintptr_t>(address) + offset;
}

// --- memory ----------------------------------------------------------------------------------------------------------

template <class Type, int count> struct alignas(sizeof(Type) * count) ptx_vector {
    Type at[count];
};

// By value: the vector is one access.
template <class Vector, class... Values> SIM_INLINE void ptx_spread(Vector vector, Values &...values)
{
    int i = 0;
    int order[] = {(ptx_set(values, vector.at[i]), i++)...};
    (void)order;
}
template <class Type, class... Values> SIM_INLINE void ptx_load_vector(const char *address, Values &...values)
{
    ptx_spread(*(const ptx_vector<Type, sizeof...(Values)> *)address, values...);
}
template <class Type, class... Values>
SIM_INLINE void ptx_load_vector_past_cache(const char *address, Values &...values)
{
    ptx_spread(__ldcg((const ptx_vector<Type, sizeof...(Values)> *)address), values...);
}
template <class Type, class... Values> SIM_INLINE void ptx_load_vector_read_only(const char *address, Values &...values)
{
    ptx_spread(__ldg((const ptx_vector<Type, sizeof...(Values)> *)address), values...);
}
template <class Type, class... Values> SIM_INLINE void ptx_store_vector(char *address, const Values &...values)
{
    ptx_vector<Type, sizeof...(Values)> vector = {{ptx_get<Type>(values)...}};
    *(ptx_vector<Type, sizeof...(Values)> *)address = vector;
}

template <class Type> SIM_UNWATCHED SIM_NOINLINE Type ptx_read(const char *address)
{
    return *(const volatile Type *)address;
}
template <class Type> SIM_UNWATCHED SIM_NOINLINE void ptx_write(char *address, Type value)
{
    *(volatile Type *)address = value;
}
// A flag that is polled: whoever sets it must get to run.
template <class Type> SIM_INLINE Type ptx_load_atomic(const char *address, int scope, int what)
{
    SIM_ANY_ATOMIC(address, sizeof(Type), scope, what);
    Type value = ptx_read<Type>(address);
    sim_spin();
    return value;
}
template <class Type> SIM_INLINE void ptx_store_atomic(char *address, int scope, int what, Type value)
{
    SIM_ANY_ATOMIC(address, sizeof(Type), scope, what);
    ptx_write<Type>(address, value);
}

// The elements of a vector are read and stored one by one, as PTX has it.
template <class Type, class... Values>
SIM_INLINE void ptx_load_vector_atomic(const char *address, int scope, int what, Values &...values)
{
    ptx_vector<Type, sizeof...(Values)> vector;
    for (unsigned i = 0; i < sizeof...(Values); i++) {
        SIM_ANY_ATOMIC(address + i * sizeof(Type), sizeof(Type), scope, what);
        vector.at[i] = ptx_read<Type>(address + i * sizeof(Type));
    }
    sim_spin();
    ptx_spread(vector, values...);
}
template <class Type, class... Values>
SIM_INLINE void ptx_store_vector_atomic(char *address, int scope, int what, const Values &...values)
{
    const Type each[] = {ptx_get<Type>(values)...};
    for (unsigned i = 0; i < sizeof...(Values); i++)
        ptx_store_atomic<Type>(address + i * sizeof(Type), scope, what, each[i]);
}

template <class Type, class... Parts> SIM_INLINE Type ptx_join(const Parts &...parts)
{
    static_assert(sizeof(Type) % sizeof...(Parts) == 0, "parts of one size");
    constexpr int bits = 8 * sizeof(Type) / sizeof...(Parts);
    uint64_t values[] = {(uint64_t)ptx_get<typename std::conditional<bits == 32, uint32_t, uint16_t>::type>(parts)...};
    uint64_t joined = 0;
    for (unsigned i = 0; i < sizeof...(Parts); i++)
        joined |= values[i] << (i * bits % 64);
    return ptx_get<Type>((typename std::conditional<sizeof(Type) == 8, uint64_t, uint32_t>::type) joined);
}
template <class Type, class... Parts> SIM_INLINE void ptx_split(const Type &whole, Parts &...parts)
{
    constexpr int bits = 8 * sizeof(Type) / sizeof...(Parts);
    typedef typename std::conditional<bits == 32, uint32_t, uint16_t>::type part;
    uint64_t left = sizeof(Type) == 8 ? ptx_get<uint64_t>(whole) : ptx_get<uint32_t>(whole);
    int order[] = {(ptx_set(parts, (part)left), left = left >> (bits % 64), 0)...};
    (void)order;
}

SIM_INLINE void ptx_copy(char *to, const char *from, size_t bytes, size_t given)
{
    __pipeline_memcpy_async(to, from, bytes, bytes - given);
}
SIM_INLINE void ptx_copy_commit()
{
    __pipeline_commit();
}
// Those of no group yet are waited for too.
SIM_INLINE void ptx_copy_wait_all()
{
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
SIM_INLINE void ptx_copy_wait(size_t prior)
{
    __pipeline_wait_prior(prior);
}

// --- tensor cores ---------------------------------------------------------------------------------------------------

template <int count> struct ptx_registers {
    uint32_t at[count];
};
template <class... Parts> SIM_INLINE ptx_registers<sizeof...(Parts)> ptx_parts(const Parts &...parts)
{
    return {{ptx_get<uint32_t>(parts)...}};
}
template <int count, class... Parts> SIM_INLINE void ptx_store_parts(const ptx_registers<count> &from, Parts &...parts)
{
    int i = 0;
    int order[] = {(ptx_set(parts, from.at[i]), i++)...};
    (void)order;
}
template <int count, bool transposed, class... Parts> SIM_INLINE void ptx_load_matrix(const char *row, Parts &...parts)
{
    ptx_registers<count> loaded;
    ldmatrix<count, transposed>(loaded.at, row);
    ptx_store_parts(loaded, parts...);
}

// cvt.rna.tf32.f32: to nearest, ties away from zero.
SIM_INLINE uint32_t ptx_to_tf32(float value)
{
    uint32_t bits = ptx_get<uint32_t>(value);
    return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}

// cvt.rn.satfinite.f16x2.f32: two halves, the first in the upper bits, at most the largest finite one.
SIM_INLINE uint32_t ptx_to_halves(float high, float low)
{
    const double largest = 65504;
    const double parts[2] = {low, high};
    uint32_t bits = 0;
    for (int i = 0; i < 2; i++) {
        const double part = parts[i] > largest ? largest : parts[i] < -largest ? -largest : parts[i];
        bits |= (uint32_t)narrow_bits_of_double<5, 10>(part) << (16 * i);
    }
    return bits;
}

#define SIM_PTX_MULTIPLY(name)                                                                                         \
    SIM_INLINE ptx_registers<4> ptx_multiply_##name(const ptx_registers<4> &a, const ptx_registers<2> &b,              \
                                                    const ptx_registers<4> &c)                                         \
    {                                                                                                                  \
        mma_##name::sum sum[4];                                                                                        \
        __builtin_memcpy(sum, c.at, sizeof sum);                                                                       \
        mma<mma_##name>(sum, a.at, b.at, sum);                                                                         \
        ptx_registers<4> result;                                                                                       \
        __builtin_memcpy(result.at, sum, sizeof sum);                                                                  \
        return result;                                                                                                 \
    }
SIM_PTX_MULTIPLY(half)
SIM_PTX_MULTIPLY(bfloat16)
SIM_PTX_MULTIPLY(tf32)
SIM_PTX_MULTIPLY(int8)
#undef SIM_PTX_MULTIPLY

// --- arithmetic ------------------------------------------------------------------------------------------------------

SIM_INLINE float ptx_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
SIM_INLINE double ptx_fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
SIM_INLINE float ptx_sqrt(float a)
{
    return __builtin_sqrtf(a);
}
SIM_INLINE double ptx_sqrt(double a)
{
    return __builtin_sqrt(a);
}
SIM_INLINE float ptx_min(float a, float b)
{
    return __builtin_fminf(a, b);
}
SIM_INLINE double ptx_min(double a, double b)
{
    return __builtin_fmin(a, b);
}
SIM_INLINE float ptx_max(float a, float b)
{
    return __builtin_fmaxf(a, b);
}
SIM_INLINE double ptx_max(double a, double b)
{
    return __builtin_fmax(a, b);
}
template <class Type> SIM_INLINE Type ptx_min(Type a, Type b)
{
    return b < a ? b : a;
}
template <class Type> SIM_INLINE Type ptx_max(Type a, Type b)
{
    return a < b ? b : a;
}
template <class Type> SIM_INLINE Type ptx_abs(Type a)
{
    return a < (Type)0 ? (Type)-a : a;
}

// With the carry that comes in, and the one that goes out where it is asked for.
template <class Type> SIM_INLINE Type ptx_add(Type a, Type b, unsigned int carry, unsigned int *out = nullptr)
{
    typedef typename std::make_unsigned<Type>::type plain;
    plain part, sum;
    bool first = __builtin_add_overflow((plain)a, (plain)b, &part);
    bool second = __builtin_add_overflow(part, (plain)carry, &sum);
    if (out)
        *out = first || second;
    return (Type)sum;
}
template <class Type> SIM_INLINE Type ptx_subtract(Type a, Type b, unsigned int borrow, unsigned int *out = nullptr)
{
    typedef typename std::make_unsigned<Type>::type plain;
    plain part, difference;
    bool first = __builtin_sub_overflow((plain)a, (plain)b, &part);
    bool second = __builtin_sub_overflow(part, (plain)borrow, &difference);
    if (out)
        *out = first || second;
    return (Type)difference;
}

template <class Type> SIM_INLINE Type ptx_high_product(Type a, Type b)
{
    return (Type)(((__int128)a * (__int128)b) >> (8 * sizeof(Type)));
}
SIM_INLINE unsigned long long ptx_high_product(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

// Shifts by more than the width give what shifting one by one would.
template <class Type> SIM_INLINE Type ptx_shift_left(Type a, unsigned int by)
{
    return by < 8 * sizeof(Type) ? (Type)(a << by) : (Type)0;
}
template <class Type> SIM_INLINE Type ptx_shift_right(Type a, unsigned int by)
{
    constexpr unsigned int bits = 8 * sizeof(Type);
    return by < bits ? (Type)(a >> by) : (Type)(a < (Type)0 ? -1 : 0);
}

template <class Type> SIM_INLINE unsigned int ptx_leading_zeros(Type a)
{
    typedef typename std::make_unsigned<Type>::type bits;
    return a ? (unsigned int)__builtin_clzll((unsigned long long)(bits)a) - 8 * (8 - sizeof(Type)) : 8 * sizeof(Type);
}
template <class Type> SIM_INLINE Type ptx_reverse(Type a)
{
    Type reversed = 0;
    for (unsigned int i = 0; i < 8 * sizeof(Type); i++)
        reversed = (Type)(reversed << 1 | (a >> i & 1));
    return reversed;
}
template <class Type> SIM_INLINE Type ptx_extract(Type a, unsigned int start, unsigned int length)
{
    constexpr unsigned int bits = 8 * sizeof(Type);
    start &= 0xff;
    length &= 0xff;
    if (length == 0)
        return 0;
    unsigned int last = start + length - 1 < bits - 1 ? start + length - 1 : bits - 1;
    bool sign = std::is_signed<Type>::value && (a >> last & 1);
    Type result = 0;
    for (unsigned int i = 0; i < bits; i++)
        result |= (Type)((i < length && start + i < bits ? (a >> (start + i) & 1) : (Type)sign) << i);
    return result;
}
template <class Type> SIM_INLINE Type ptx_insert(Type from, Type into, unsigned int start, unsigned int length)
{
    constexpr unsigned int bits = 8 * sizeof(Type);
    start &= 0xff;
    length &= 0xff;
    for (unsigned int i = 0; i < length && start + i < bits; i++)
        into = (Type)((into & ~((Type)1 << (start + i))) | ((from >> i & 1) << (start + i)));
    return into;
}
template <class Type> SIM_INLINE unsigned int ptx_find(Type a)
{
    if (a < (Type)0)
        a = (Type)~a;
    return a ? 8 * sizeof(Type) - 1 - ptx_leading_zeros(a) : ~0u;
}
SIM_INLINE unsigned int ptx_logic(unsigned int a, unsigned int b, unsigned int c, int table)
{
    unsigned int result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

// A real number as an integer: out of range it is the nearest there is, and NaN is 0.
template <class To, class From> SIM_INLINE To ptx_saturate(From from)
{
    if (!(from == from))
        return 0;
    if (from <= (From)std::numeric_limits<To>::min())
        return std::numeric_limits<To>::min();
    if (from >= (From)std::numeric_limits<To>::max())
        return std::numeric_limits<To>::max();
    return (To)from;
}

} // namespace sim
