// std::atomic and the compiler's own atomic builtins, which -fsanitize=thread turns into calls. In a kernel they count
// as atomics of system scope; in host code they are only carried out.

#include <stdbool.h>
#include <stdint.h>

#include "machine/options.h"
#include "watch/internal.h"

#define HOOK   __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))
// The compiler's numbers for memory orders.
enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIAL };

static int what(int access, int order)
{
    int acquires = order == CONSUME || order == ACQUIRE || order == ACQUIRE_RELEASE || order == SEQUENTIAL;
    int releases = order == RELEASE || order == ACQUIRE_RELEASE || order == SEQUENTIAL;
    return access | (acquires && (access & SIM_ATOMIC_LOAD) ? SIM_ATOMIC_ACQUIRE : 0) |
           (releases && (access & SIM_ATOMIC_STORE) ? SIM_ATOMIC_RELEASE : 0);
}

static void announce(const volatile void *memory, unsigned bytes, int access, int order, uintptr_t pc)
{
    sim_access_atomic((uintptr_t)memory, bytes, SIM_SCOPE_SYSTEM, what(access, order), pc);
}

#define FETCH(bits, type, name, builtin)                                                                               \
    HOOK type __tsan_atomic##bits##_##name(volatile type *memory, type value, int order);                              \
    type __tsan_atomic##bits##_##name(volatile type *memory, type value, int order)                                    \
    {                                                                                                                  \
        announce(memory, sizeof(type), SIM_ATOMIC_UPDATE, order, CALLER);                                              \
        return builtin(memory, value, __ATOMIC_SEQ_CST);                                                               \
    }

#define ATOMICS(bits, type)                                                                                            \
    HOOK type __tsan_atomic##bits##_load(const volatile type *memory, int order);                                      \
    HOOK void __tsan_atomic##bits##_store(volatile type *memory, type value, int order);                               \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type *memory, type *expected, type value,          \
                                                           int order, int failed);                                     \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type *memory, type *expected, type value, int order, \
                                                         int failed);                                                  \
    HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type value, int order,  \
                                                         int failed);                                                  \
    type __tsan_atomic##bits##_load(const volatile type *memory, int order)                                            \
    {                                                                                                                  \
        announce(memory, sizeof(type), SIM_ATOMIC_LOAD, order, CALLER);                                                \
        return __atomic_load_n(memory, __ATOMIC_SEQ_CST);                                                              \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile type *memory, type value, int order)                                     \
    {                                                                                                                  \
        announce(memory, sizeof(type), SIM_ATOMIC_STORE, order, CALLER);                                               \
        __atomic_store_n(memory, value, __ATOMIC_SEQ_CST);                                                             \
    }                                                                                                                  \
    static int exchange##bits(volatile type *memory, type *expected, type value, int order, uintptr_t pc)              \
    {                                                                                                                  \
        announce(memory, sizeof(type), SIM_ATOMIC_UPDATE | SIM_ATOMIC_CONFIRM, order, pc);                             \
        bool done = __atomic_compare_exchange_n(memory, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
        if (!done && sim_current)                                                                                      \
            sim_scheduler->polls(sim_current, pc, false,                                                               \
                                 &(sim_polled){(uintptr_t)memory, sizeof(type), SIM_LOOK_ATOMIC});                     \
        return done;                                                                                                   \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *memory, type *expected, type value, int order,    \
                                                      int failed)                                                      \
    {                                                                                                                  \
        (void)failed;                                                                                                  \
        return exchange##bits(memory, expected, value, order, CALLER);                                                 \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *memory, type *expected, type value, int order,      \
                                                    int failed)                                                        \
    {                                                                                                                  \
        (void)failed;                                                                                                  \
        return exchange##bits(memory, expected, value, order, CALLER);                                                 \
    }                                                                                                                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *memory, type expected, type value, int order,       \
                                                    int failed)                                                        \
    {                                                                                                                  \
        (void)failed;                                                                                                  \
        exchange##bits(memory, &expected, value, order, CALLER);                                                       \
        return expected;                                                                                               \
    }                                                                                                                  \
    FETCH(bits, type, exchange, __atomic_exchange_n)                                                                   \
    FETCH(bits, type, fetch_add, __atomic_fetch_add)                                                                   \
    FETCH(bits, type, fetch_sub, __atomic_fetch_sub)                                                                   \
    FETCH(bits, type, fetch_and, __atomic_fetch_and)                                                                   \
    FETCH(bits, type, fetch_or, __atomic_fetch_or)                                                                     \
    FETCH(bits, type, fetch_xor, __atomic_fetch_xor)                                                                   \
    FETCH(bits, type, fetch_nand, __atomic_fetch_nand)

// The compiler's own signatures. NOLINTBEGIN(readability-non-const-parameter)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
// NOLINTEND(readability-non-const-parameter)

#define TELL(bits, name) sim_use_tell(SIM_USES_ATOMICS | SIM_USES_FENCES, (uintptr_t)__tsan_atomic##bits##_##name)
#define TELL_ALL(bits)                                                                                                 \
    TELL(bits, load);                                                                                                  \
    TELL(bits, store);                                                                                                 \
    TELL(bits, compare_exchange_strong);                                                                               \
    TELL(bits, compare_exchange_weak);                                                                                 \
    TELL(bits, compare_exchange_val);                                                                                  \
    TELL(bits, exchange);                                                                                              \
    TELL(bits, fetch_add);                                                                                             \
    TELL(bits, fetch_sub);                                                                                             \
    TELL(bits, fetch_and);                                                                                             \
    TELL(bits, fetch_or);                                                                                              \
    TELL(bits, fetch_xor);                                                                                             \
    TELL(bits, fetch_nand)

// Host code uses these too (every function-local static does), so having them says nothing about the program's kernels.
__attribute__((constructor)) static void tell(void)
{
    TELL_ALL(8);
    TELL_ALL(16);
    TELL_ALL(32);
    TELL_ALL(64);
}
