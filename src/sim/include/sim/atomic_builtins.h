// __nv_atomic_*: the compiler's own atomics, with an order and a scope that the call names.
#pragma once

#include "sim/atomics.h"

#define __NV_ATOMIC_RELAXED       0
#define __NV_ATOMIC_CONSUME       1
#define __NV_ATOMIC_ACQUIRE       2
#define __NV_ATOMIC_RELEASE       3
#define __NV_ATOMIC_ACQ_REL       4
#define __NV_ATOMIC_SEQ_CST       5
#define __NV_THREAD_SCOPE_THREAD  0
#define __NV_THREAD_SCOPE_BLOCK   1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE  3
#define __NV_THREAD_SCOPE_SYSTEM  4

namespace sim
{

SIM_INLINE int sides_of(int order)
{
    return (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE ? SIM_ATOMIC_ACQUIRE : 0) |
           (order >= __NV_ATOMIC_RELEASE ? SIM_ATOMIC_RELEASE : 0);
}

SIM_INLINE int width_of(int scope)
{
    return scope <= __NV_THREAD_SCOPE_BLOCK    ? SIM_SCOPE_BLOCK
           : scope == __NV_THREAD_SCOPE_SYSTEM ? SIM_SCOPE_SYSTEM
                                               : SIM_SCOPE_DEVICE;
}

SIM_INLINE void announce(const volatile void *address, size_t bytes, int what, int order, int scope)
{
#if SIM_WATCHED
    int one_way = what == SIM_ATOMIC_STORE ? SIM_ATOMIC_ACQUIRE : what == SIM_ATOMIC_LOAD ? SIM_ATOMIC_RELEASE : 0;
    what |= sides_of(order) & ~one_way;
    SIM_ANY_ATOMIC(address, (int)bytes, width_of(scope), what);
#else
    (void)address, (void)bytes, (void)what, (void)order, (void)scope;
#endif
}

template <class Type> SIM_UNWATCHED inline Type load(const Type *address)
{
    Type value;
    __atomic_load(const_cast<Type *>(address), &value, __ATOMIC_SEQ_CST);
    return value;
}
template <class Type> SIM_UNWATCHED inline void store(Type *address, Type value)
{
    __atomic_store(address, &value, __ATOMIC_SEQ_CST);
}

} // namespace sim

template <class Type>
SIM_INLINE Type __nv_atomic_load_n(const Type *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim::announce(address, sizeof(Type), SIM_ATOMIC_LOAD, order, scope);
    Type value = sim::load(address);
    return value;
}
template <class Type>
SIM_INLINE void __nv_atomic_load(const Type *address, Type *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *value = __nv_atomic_load_n(address, order, scope);
}
template <class Type>
SIM_INLINE void __nv_atomic_store_n(Type *address, typename sim::plain<Type>::type value, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim::announce(address, sizeof(Type), SIM_ATOMIC_STORE, order, scope);
    sim::store(address, value);
}
template <class Type>
SIM_INLINE void __nv_atomic_store(Type *address, Type *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_store_n(address, *value, order, scope);
}

#define SIM_ATOMIC_BUILTIN(name, combine)                                                                              \
    template <class Type>                                                                                              \
    SIM_INLINE Type __nv_atomic_##name(Type *address, typename sim::plain<Type>::type operand, int order,              \
                                       int scope = __NV_THREAD_SCOPE_SYSTEM)                                           \
    {                                                                                                                  \
        sim::announce(address, sizeof(Type), sim::announced<sim::combine>::what, order, scope);                        \
        return sim::update<sim::combine>(address, operand);                                                            \
    }
SIM_ATOMIC_BUILTIN(exchange_n, combine_exchange)
SIM_ATOMIC_BUILTIN(fetch_add, combine_add)
SIM_ATOMIC_BUILTIN(fetch_sub, combine_subtract)
SIM_ATOMIC_BUILTIN(fetch_and, combine_and)
SIM_ATOMIC_BUILTIN(fetch_or, combine_or)
SIM_ATOMIC_BUILTIN(fetch_xor, combine_xor)
SIM_ATOMIC_BUILTIN(fetch_min, combine_min)
SIM_ATOMIC_BUILTIN(fetch_max, combine_max)
#undef SIM_ATOMIC_BUILTIN

template <class Type>
SIM_INLINE void __nv_atomic_exchange(Type *address, Type *value, Type *old, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *old = __nv_atomic_exchange_n(address, *value, order, scope);
}
template <class Type>
SIM_INLINE bool __nv_atomic_compare_exchange_n(Type *address, Type *expected, typename sim::plain<Type>::type desired,
                                               bool, int success, int, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim::announce(address, sizeof(Type), SIM_ATOMIC_UPDATE | SIM_ATOMIC_CONFIRM, success, scope);
    Type old = sim::compare_and_swap(address, *expected, desired);
    bool swapped = __builtin_memcmp(&old, expected, sizeof(Type)) == 0;
    if (!swapped) {
        *expected = old;
        sim_spin();
    }
    return swapped;
}
template <class Type>
SIM_INLINE bool __nv_atomic_compare_exchange(Type *address, Type *expected, Type *desired, bool weak, int success,
                                             int failure, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange_n(address, expected, *desired, weak, success, failure, scope);
}
SIM_INLINE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim_fence_sides(sim::width_of(scope), sim::sides_of(order));
}
