// Loads and stores with a cache hint, address spaces, prefetch. Caches are not simulated: the access itself is what
// counts.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/abi.h"
#include "sim/bits.h"

#define SIM_LOAD(name)                                                                                                 \
    template <class Type> SIM_INLINE Type name(const Type *address)                                                    \
    {                                                                                                                  \
        return *address;                                                                                               \
    }
SIM_LOAD(__ldcg)
SIM_LOAD(__ldca)
SIM_LOAD(__ldcs)
SIM_LOAD(__ldlu)
#undef SIM_LOAD

// Loads through the read-only cache, whose memory must not change while the kernel runs: the mark tells that the
// program has some.
#define SIM_MARK_READ_ONLY() asm volatile(".pushsection sim_read_only,\"a\"\n\t.byte 1\n\t.popsection")
template <class Type> SIM_INLINE Type __ldg(const Type *address)
{
    SIM_MARK_READ_ONLY();
    return *address;
}

// A load that must not be served from an earlier one: what people poll with.
template <class Type> SIM_INLINE Type __ldcv(const Type *address)
{
    asm volatile("" : : : "memory");
    return *address;
}

#define SIM_STORE(name)                                                                                                \
    template <class Type> SIM_INLINE void name(Type *address, typename sim::plain<Type>::type value)                   \
    {                                                                                                                  \
        *address = value;                                                                                              \
    }
SIM_STORE(__stwb)
SIM_STORE(__stcg)
SIM_STORE(__stcs)
SIM_STORE(__stwt)
#undef SIM_STORE

SIM_INLINE void __prefetch_global_l1(const void *)
{
}
SIM_INLINE void __prefetch_global_l2(const void *)
{
}

// Which memory an address lies in is the runtime's knowledge.
extern "C" {
enum { SIM_SPACE_OTHER, SIM_SPACE_GLOBAL, SIM_SPACE_SHARED, SIM_SPACE_CONSTANT, SIM_SPACE_LOCAL };
int sim_space_of(const void *address);
}
SIM_INLINE unsigned int __isGlobal(const void *address)
{
    return sim_space_of(address) == SIM_SPACE_GLOBAL;
}
SIM_INLINE unsigned int __isShared(const void *address)
{
    return sim_space_of(address) == SIM_SPACE_SHARED;
}
SIM_INLINE unsigned int __isCtaShared(const void *address)
{
    return sim_space_of(address) == SIM_SPACE_SHARED;
}
SIM_INLINE unsigned int __isConstant(const void *address)
{
    return sim_space_of(address) == SIM_SPACE_CONSTANT;
}
SIM_INLINE unsigned int __isGridConstant(const void *address)
{
    return sim_space_of(address) == SIM_SPACE_CONSTANT;
}
SIM_INLINE unsigned int __isLocal(const void *address)
{
    return sim_space_of(address) == SIM_SPACE_LOCAL;
}

// All address spaces are one here: an address in a space is the address.
#define SIM_ADDRESS(space)                                                                                             \
    SIM_INLINE size_t __cvta_generic_to_##space(const void *address)                                                   \
    {                                                                                                                  \
        return (size_t)address;                                                                                        \
    }                                                                                                                  \
    SIM_INLINE void *__cvta_##space##_to_generic(size_t address)                                                       \
    {                                                                                                                  \
        return (void *)address;                                                                                        \
    }
SIM_ADDRESS(global)
SIM_ADDRESS(shared)
SIM_ADDRESS(constant)
SIM_ADDRESS(local)
SIM_ADDRESS(grid_constant)
#undef SIM_ADDRESS
