// The hooks that the compiler calls before each memory access (-fsanitize=thread). The names are the compiler's;
// nothing else of ThreadSanitizer is here. The common case must be short: known site, known range, one store into the
// lane's log.

#include <string.h>

#include "machine/options.h"
#include "watch/internal.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define CALLER    ((uintptr_t)__builtin_return_address(0))
#define HOOK      __attribute__((visibility("default")))

static inline __attribute__((always_inline)) void access(const void *memory, unsigned bytes, unsigned kind,
                                                         uintptr_t pc)
{
    uintptr_t address = (uintptr_t)memory;
    sim_worker *worker = sim_current;
    if (__builtin_expect(!worker, 0)) {
        sim_access_host(address, bytes, kind, pc);
        return;
    }
    const sim_slot *slot = &worker->slots[sim_slot_of(pc)];
    if (LIKELY(slot->pc == pc && address - slot->lo < slot->span && (address & (bytes - 1)) == 0)) {
        uint64_t *next = worker->log_next;
        *next++ = slot->tag | address;
        worker->log_next = next;
        if (__builtin_expect(next == worker->log_end, 0))
            sim_log_full(worker);
        return;
    }
    sim_access_slow(worker, address, bytes, kind, pc);
}

static void access_volatile(const void *memory, unsigned bytes, unsigned kind, uintptr_t pc);
static void access_unaligned(const void *memory, unsigned bytes, unsigned kind, uintptr_t pc);

#define ACCESS(name, bytes, note, kind)                                                                                \
    HOOK void __tsan_##name(void *memory);                                                                             \
    void __tsan_##name(void *memory)                                                                                   \
    {                                                                                                                  \
        note(memory, bytes, kind, CALLER);                                                                             \
    }

// Of a read_write each half would need its own site: the write is what matters for races.
#define HOOKS(bytes)                                                                                                   \
    ACCESS(read##bytes, bytes, access, SIM_READ)                                                                       \
    ACCESS(write##bytes, bytes, access, SIM_WRITE)                                                                     \
    ACCESS(read_write##bytes, bytes, access, SIM_WRITE)                                                                \
    ACCESS(unaligned_read##bytes, bytes, access_unaligned, SIM_READ)                                                   \
    ACCESS(unaligned_write##bytes, bytes, access_unaligned, SIM_WRITE)                                                 \
    ACCESS(unaligned_read_write##bytes, bytes, access_unaligned, SIM_WRITE)                                            \
    ACCESS(volatile_read##bytes, bytes, access_volatile, SIM_VOLATILE_READ)                                            \
    ACCESS(volatile_write##bytes, bytes, access_volatile, SIM_VOLATILE_WRITE)                                          \
    ACCESS(unaligned_volatile_read##bytes, bytes, access_volatile, SIM_VOLATILE_READ)                                  \
    ACCESS(unaligned_volatile_write##bytes, bytes, access_volatile, SIM_VOLATILE_WRITE)

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

// Before the program's own code, which may launch kernels before main.
__attribute__((constructor(101))) static void tell(void)
{
    sim_program_uses |= SIM_USES_HOOKS;
}

HOOK void __tsan_init(void);
HOOK void __tsan_func_entry(void *caller);
HOOK void __tsan_func_exit(void);
HOOK void __tsan_vptr_read(void **memory);
HOOK void __tsan_vptr_update(void **memory, void *value);
HOOK void __tsan_read_range(void *memory, unsigned long bytes);
HOOK void __tsan_write_range(void *memory, unsigned long bytes);
HOOK void *__tsan_memcpy(void *to, const void *from, size_t bytes);
HOOK void *__tsan_memmove(void *to, const void *from, size_t bytes);
HOOK void *__tsan_memset(void *to, int value, size_t bytes);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_vptr_read(void **memory)
{
    access(memory, sizeof *memory, SIM_READ, CALLER);
}

void __tsan_vptr_update(void **memory, void *value)
{
    (void)value;
    access(memory, sizeof *memory, SIM_WRITE, CALLER);
}

void __tsan_read_range(void *memory, unsigned long bytes)
{
    sim_access_range((uintptr_t)memory, bytes, false, CALLER);
}

void __tsan_write_range(void *memory, unsigned long bytes)
{
    sim_access_range((uintptr_t)memory, bytes, true, CALLER);
}

// Copies of structures become calls of these: the build redirects memcpy and the like here. The two halves of a copy
// are two sites, so the read is counted at the address before the caller's.
void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    sim_access_range((uintptr_t)from, bytes, false, CALLER - (1u << SIM_CODE_SHIFT));
    sim_access_range((uintptr_t)to, bytes, true, CALLER);
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    sim_access_range((uintptr_t)from, bytes, false, CALLER - (1u << SIM_CODE_SHIFT));
    sim_access_range((uintptr_t)to, bytes, true, CALLER);
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    sim_access_range((uintptr_t)to, bytes, true, CALLER);
    return memset(to, value, bytes);
}

// Volatile accesses may be polls and may carry a protocol: each is looked at when it is made.
static void access_volatile(const void *memory, unsigned bytes, unsigned kind, uintptr_t pc)
{
    if (!sim_current)
        sim_access_host((uintptr_t)memory, bytes, kind, pc);
    else
        sim_access_slow(sim_current, (uintptr_t)memory, bytes, kind, pc);
}

// The compiler made one of what were several accesses to neighbours, and knows that they need not be aligned as one:
// members of a structure, nearly always of four bytes each. None of them is misaligned.
static void access_unaligned(const void *memory, unsigned bytes, unsigned kind, uintptr_t pc)
{
    enum { USUAL = 4 };
    unsigned piece = bytes > USUAL ? USUAL : (bytes + 1) / 2;
    uintptr_t address = (uintptr_t)memory;
    for (unsigned at = 0; at < bytes; at += piece)
        sim_access_range(address + at, piece, kind == SIM_WRITE, pc);
}
