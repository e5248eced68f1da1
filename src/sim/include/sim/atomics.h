// CUDA's atomics, each at device, block and system scope. The access is announced to the runtime and then made with the
// host's atomics. An update that leaves memory as it was is how people wait for others, so others get to run then.
#pragma once

#include <stdint.h>

#include "sim/abi.h"
#include "sim/bits.h"
#include "sim/vector_types.h"

#if SIM_WATCHED
#define SIM_ANNOUNCE(address, scope, what) sim_atomic(address, (int)sizeof(*(address)), scope, what)
#else
#define SIM_ANNOUNCE(address, scope, what) ((void)0)
#endif

namespace sim
{

template <size_t Bytes> struct word_of_size;
template <> struct word_of_size<1> {
    typedef uint8_t type;
};
template <> struct word_of_size<2> {
    typedef uint16_t type;
};
template <> struct word_of_size<4> {
    typedef uint32_t type;
};
template <> struct word_of_size<8> {
    typedef uint64_t type;
};

struct combine_add {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old + operand;
    }
};
struct combine_subtract {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old - operand;
    }
};
struct combine_exchange {
    template <class Type> SIM_INLINE static Type of(Type, Type operand)
    {
        return operand;
    }
};
struct combine_min;
struct combine_max;
struct combine_and;
struct combine_or;
template <class Combine> struct announced {
    enum { what = SIM_ATOMIC_UPDATE };
};
template <> struct announced<combine_exchange> {
    enum { what = SIM_ATOMIC_UPDATE | SIM_ATOMIC_REPLACE };
};
template <> struct announced<combine_min> {
    enum { what = SIM_ATOMIC_UPDATE | SIM_ATOMIC_CONFIRM | SIM_ATOMIC_COMMUTES };
};
template <> struct announced<combine_max> : announced<combine_min> {
};
template <> struct announced<combine_and> : announced<combine_min> {
};
template <> struct announced<combine_or> : announced<combine_min> {
};
struct combine_min {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return operand < old ? operand : old;
    }
};
struct combine_max {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old < operand ? operand : old;
    }
};
struct combine_and {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old & operand;
    }
};
struct combine_or {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old | operand;
    }
};
struct combine_xor {
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old ^ operand;
    }
};
struct combine_increment { // counts up to the operand, then starts at 0
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old >= operand ? 0 : old + 1;
    }
};
struct combine_decrement { // counts down to 0, then starts at the operand
    template <class Type> SIM_INLINE static Type of(Type old, Type operand)
    {
        return old == 0 || old > operand ? operand : old - 1;
    }
};

template <class Combine, class Type> SIM_UNWATCHED inline Type update(Type *address, Type operand)
{
    typedef typename word_of_size<sizeof(Type)>::type word;
    word *memory = reinterpret_cast<word *>(address);
    word old_bits = __atomic_load_n(memory, __ATOMIC_RELAXED), new_bits;
    Type old;
    do {
        __builtin_memcpy(&old, &old_bits, sizeof(Type));
        Type combined = Combine::of(old, operand);
        __builtin_memcpy(&new_bits, &combined, sizeof(Type));
    } while (!__atomic_compare_exchange_n(memory, &old_bits, new_bits, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

template <class Type> SIM_UNWATCHED inline Type compare_and_swap(Type *address, Type expected, Type desired)
{
    typedef typename word_of_size<sizeof(Type)>::type word;
    word expected_bits, desired_bits;
    __builtin_memcpy(&expected_bits, &expected, sizeof(Type));
    __builtin_memcpy(&desired_bits, &desired, sizeof(Type));
    __atomic_compare_exchange_n(reinterpret_cast<word *>(address), &expected_bits, desired_bits, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __builtin_memcpy(&expected, &expected_bits, sizeof(Type));
    return expected;
}

// Whether an update with this operand can only be meant to look: a lock that was taken already, or adding nothing.
template <class Combine, class Type> SIM_INLINE bool only_looked(Type, Type)
{
    return false;
}
template <> SIM_INLINE bool only_looked<combine_exchange, int>(int old, int operand)
{
    return old == operand;
}
template <> SIM_INLINE bool only_looked<combine_exchange, unsigned int>(unsigned int old, unsigned int operand)
{
    return old == operand;
}
template <> SIM_INLINE bool only_looked<combine_add, int>(int, int operand)
{
    return operand == 0;
}
template <> SIM_INLINE bool only_looked<combine_add, unsigned int>(unsigned int, unsigned int operand)
{
    return operand == 0;
}
template <> SIM_INLINE bool only_looked<combine_or, int>(int, int operand)
{
    return operand == 0;
}
template <> SIM_INLINE bool only_looked<combine_or, unsigned int>(unsigned int, unsigned int operand)
{
    return operand == 0;
}

} // namespace sim

#define SIM_ATOMIC_AT(type, name, combine, scope)                                                                      \
    SIM_INLINE type name(type *address, type operand)                                                                  \
    {                                                                                                                  \
        SIM_ANNOUNCE(address, scope, sim::announced<sim::combine>::what);                                              \
        type old = sim::update<sim::combine>(address, operand);                                                        \
        if (sim::only_looked<sim::combine>(old, operand))                                                              \
            sim_spin();                                                                                                \
        return old;                                                                                                    \
    }
#define SIM_ATOMIC(type, name, combine)                                                                                \
    SIM_ATOMIC_AT(type, name, combine, SIM_SCOPE_DEVICE)                                                               \
    SIM_ATOMIC_AT(type, name##_block, combine, SIM_SCOPE_BLOCK)                                                        \
    SIM_ATOMIC_AT(type, name##_system, combine, SIM_SCOPE_SYSTEM)

SIM_ATOMIC(int, atomicAdd, combine_add)
SIM_ATOMIC(unsigned int, atomicAdd, combine_add)
SIM_ATOMIC(unsigned long long, atomicAdd, combine_add)
SIM_ATOMIC(float, atomicAdd, combine_add)
SIM_ATOMIC(double, atomicAdd, combine_add)
SIM_ATOMIC(int, atomicSub, combine_subtract)
SIM_ATOMIC(unsigned int, atomicSub, combine_subtract)
SIM_ATOMIC(int, atomicExch, combine_exchange)
SIM_ATOMIC(unsigned int, atomicExch, combine_exchange)
SIM_ATOMIC(unsigned long long, atomicExch, combine_exchange)
SIM_ATOMIC(float, atomicExch, combine_exchange)
SIM_ATOMIC(unsigned int, atomicInc, combine_increment)
SIM_ATOMIC(unsigned int, atomicDec, combine_decrement)
#define SIM_ATOMIC_INTEGERS(name, combine)                                                                             \
    SIM_ATOMIC(int, name, combine)                                                                                     \
    SIM_ATOMIC(unsigned int, name, combine)                                                                            \
    SIM_ATOMIC(long long, name, combine)                                                                               \
    SIM_ATOMIC(unsigned long long, name, combine)
SIM_ATOMIC_INTEGERS(atomicMin, combine_min)
SIM_ATOMIC_INTEGERS(atomicMax, combine_max)
SIM_ATOMIC_INTEGERS(atomicAnd, combine_and)
SIM_ATOMIC_INTEGERS(atomicOr, combine_or)
SIM_ATOMIC_INTEGERS(atomicXor, combine_xor)

#define SIM_ATOMIC_CAS_AT(type, name, scope)                                                                           \
    SIM_INLINE type name(type *address, type compare, type value)                                                      \
    {                                                                                                                  \
        SIM_ANNOUNCE(address, scope, SIM_ATOMIC_UPDATE | SIM_ATOMIC_CONFIRM);                                          \
        type old = sim::compare_and_swap(address, compare, value);                                                     \
        if (old != compare)                                                                                            \
            sim_spin();                                                                                                \
        return old;                                                                                                    \
    }
#define SIM_ATOMIC_CAS(type)                                                                                           \
    SIM_ATOMIC_CAS_AT(type, atomicCAS, SIM_SCOPE_DEVICE)                                                               \
    SIM_ATOMIC_CAS_AT(type, atomicCAS_block, SIM_SCOPE_BLOCK)                                                          \
    SIM_ATOMIC_CAS_AT(type, atomicCAS_system, SIM_SCOPE_SYSTEM)

SIM_ATOMIC_CAS(int)
SIM_ATOMIC_CAS(unsigned int)
SIM_ATOMIC_CAS(unsigned long long)
SIM_ATOMIC_CAS(unsigned short)

// Vectors are added element by element: each element is atomic, the whole is not.
#define SIM_ATOMIC_ADD_VECTOR_AT(name)                                                                                 \
    SIM_INLINE float2 name(float2 *address, float2 operand)                                                            \
    {                                                                                                                  \
        float2 old;                                                                                                    \
        old.x = name(&address->x, operand.x);                                                                          \
        old.y = name(&address->y, operand.y);                                                                          \
        return old;                                                                                                    \
    }                                                                                                                  \
    SIM_INLINE float4 name(float4 *address, float4 operand)                                                            \
    {                                                                                                                  \
        float4 old;                                                                                                    \
        old.x = name(&address->x, operand.x);                                                                          \
        old.y = name(&address->y, operand.y);                                                                          \
        old.z = name(&address->z, operand.z);                                                                          \
        old.w = name(&address->w, operand.w);                                                                          \
        return old;                                                                                                    \
    }
SIM_ATOMIC_ADD_VECTOR_AT(atomicAdd)
SIM_ATOMIC_ADD_VECTOR_AT(atomicAdd_block)
SIM_ATOMIC_ADD_VECTOR_AT(atomicAdd_system)
