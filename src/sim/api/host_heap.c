// malloc, free and the like, and new and delete, in place of the C library's, which still do the work: this file notes
// what was asked for, and refuses to free the card's memory. It is for a whole program; in a shared object, whose
// blocks others may free, nothing is noted. Blocks made while a kernel runs are the simulator's own and are not noted
// either.

#define _GNU_SOURCE 1
#include "api/host_heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/pointer.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "program/program.h"

// Other C libraries do not offer their malloc under a second name.
#if defined(__GLIBC__)

#define REPLACE(name, ours) extern __typeof__(ours) name __attribute__((weak, alias(#ours), visibility("default")))
#define CALLER              ((uintptr_t)__builtin_return_address(0))

// --- who does the work ----------------------------------------------------------------------------------------------

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

typedef struct heap {
    void *(*allocate)(size_t bytes);
    void *(*zeroed)(size_t count, size_t bytes);
    void *(*resize)(void *memory, size_t bytes);
    void *(*aligned)(size_t alignment, size_t bytes);
    void (*release)(void *memory), (*delete_one)(void *memory), (*delete_array)(void *memory);
} heap;
static heap below = {__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign,
                     __libc_free,   __libc_free,   __libc_free};

// A sanitizer, which the program or whoever loads this module was built with, has a malloc of its own: then that is
// the one below.
extern void __sanitizer_print_stack_trace(void) __attribute__((weak));

static void *heap_malloc(size_t bytes);
static void *heap_calloc(size_t count, size_t bytes);
static void *heap_realloc(void *memory, size_t bytes);
static void *heap_memalign(size_t alignment, size_t bytes);
static void heap_free(void *memory);
static void heap_delete(void *memory);
static void heap_delete_array(void *memory);

// The next of this name behind ours.
static void next_of(const char *name, const void *ours, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL || found == ours)
        found = dlsym(RTLD_NEXT, name);
    if (found != NULL)
        memcpy(function, &found, sizeof found);
}

static inline const heap *use(void)
{
    static int looked;
    if (__sanitizer_print_stack_trace != NULL && __atomic_exchange_n(&looked, 1, __ATOMIC_RELAXED) == 0) {
        next_of("malloc", (const void *)(uintptr_t)heap_malloc, &below.allocate);
        next_of("calloc", (const void *)(uintptr_t)heap_calloc, &below.zeroed);
        next_of("realloc", (const void *)(uintptr_t)heap_realloc, &below.resize);
        next_of("memalign", (const void *)(uintptr_t)heap_memalign, &below.aligned);
        next_of("free", (const void *)(uintptr_t)heap_free, &below.release);
        next_of("_ZdlPv", (const void *)(uintptr_t)heap_delete, &below.delete_one);
        next_of("_ZdaPv", (const void *)(uintptr_t)heap_delete_array, &below.delete_array);
    }
    return &below;
}

// --- what is known --------------------------------------------------------------------------------------------------

typedef sim_host_block block; // start 0: free

typedef struct freed_block {
    uint64_t serial;
    uintptr_t pc;
} freed_block;

enum {
    FREED = 1 << 10, // blocks of which it is known where they were freed: the last ones
    FIRST_ROOM = 1 << 10,
    MOST_LOOKED_THROUGH = 1 << 16, // where a pointer is into a block, all are looked through, if they are so few
    MOST_TRIES = 1 << 20           // for the lock, whose owner may be gone since a fork
};

static block *table;
static size_t used, room;
static uint64_t allocations;
static freed_block freed[FREED];
static bool noting;
static int lock;

// False: it is not to be had, and from now on nothing is known.
static bool take_lock(void)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        int open = 0;
        if (__atomic_compare_exchange_n(&lock, &open, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        sched_yield();
    }
    __atomic_store_n(&noting, false, __ATOMIC_RELAXED);
    return false;
}

static void give_lock(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static size_t home_of(uintptr_t start, size_t size)
{
    return (size_t)((start >> 4) * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
}

static size_t slot_of(const block *in, size_t size, uintptr_t start)
{
    size_t at = home_of(start, size);
    while (in[at].start != 0 && in[at].start != start)
        at = (at + 1) & (size - 1);
    return at;
}

static bool grow(void)
{
    const size_t larger = room ? 2 * room : FIRST_ROOM;
    block *made = use()->zeroed(larger, sizeof *made);
    if (made == NULL)
        return false;
    for (size_t i = 0; i < room; i++)
        if (table[i].start)
            made[slot_of(made, larger, table[i].start)] = table[i];
    use()->release(table);
    table = made;
    room = larger;
    return true;
}

// serial: of a block that goes on with another size; 0: a new one.
static void remember(const void *memory, size_t bytes, uint64_t serial)
{
    if (memory == NULL || !noting || sim_current != NULL || !take_lock())
        return;
    if (2 * (used + 1) > room && !grow()) {
        noting = false;
    } else {
        block *one = &table[slot_of(table, room, (uintptr_t)memory)];
        used += one->start == 0;
        *one = (block){(uintptr_t)memory, bytes, serial ? serial : ++allocations};
    }
    give_lock();
}

// What was known of it. Blocks behind it that were only there because its place was taken move up.
static block forget(const void *memory, uintptr_t pc)
{
    block known = {0};
    if (memory == NULL || !noting || !take_lock())
        return known;
    size_t hole = room ? slot_of(table, room, (uintptr_t)memory) : 0;
    if (room && table[hole].start) {
        known = table[hole];
        freed[known.serial % FREED] = (freed_block){known.serial, pc};
        used--;
        for (size_t at = (hole + 1) & (room - 1); table[at].start; at = (at + 1) & (room - 1)) {
            const size_t home = home_of(table[at].start, room);
            if (((at - home) & (room - 1)) >= ((at - hole) & (room - 1))) {
                table[hole] = table[at];
                hole = at;
            }
        }
        table[hole] = (block){0};
    }
    give_lock();
    return known;
}

// Between two blocks the C library keeps a number, so that one's end is never another's start. A page that begins there
// may be somebody's.
static bool ends_at(const block *one, uintptr_t address)
{
    enum { PAGE = 4096 };
    return address == one->start + one->bytes && address % PAGE != 0;
}

// The block that it lies in, or else the one that ends there.
static const block *look_through(uintptr_t address)
{
    const block *before = NULL;
    for (size_t i = 0; i < room && used <= MOST_LOOKED_THROUGH; i++) {
        if (!table[i].start)
            continue;
        if (address - table[i].start < table[i].bytes)
            return &table[i];
        if (ends_at(&table[i], address))
            before = &table[i];
    }
    return before;
}

bool sim_host_heap_find(uintptr_t address, sim_host_block *wanted)
{
    *wanted = (sim_host_block){0};
    if (!noting || !take_lock())
        return false;
    const sim_host_block *found = room ? &table[slot_of(table, room, address)] : NULL;
    if (found != NULL && !found->start)
        found = look_through(address);
    if (found != NULL)
        *wanted = *found;
    give_lock();
    return found != NULL;
}

// Another block may lie at the same place by now.
bool sim_host_heap_lives(const sim_host_block *known, uintptr_t *freed_at)
{
    *freed_at = 0;
    if (known->serial == 0 || !noting || !take_lock())
        return true;
    const bool lives = room && table[slot_of(table, room, known->start)].serial == known->serial;
    const freed_block *end = &freed[known->serial % FREED];
    if (!lives && end->serial == known->serial)
        *freed_at = end->pc;
    give_lock();
    return lives;
}

__attribute__((constructor)) static void start_noting(void)
{
    noting = sim_module_self()->is_program;
}

// --- the card's memory ----------------------------------------------------------------------------------------------

// Whether this is the card's: then it is not the C library's to free, and the program hears of it.
static bool refuse(void *memory, const char *function, uintptr_t pc)
{
    const uintptr_t address = (uintptr_t)memory;
    if (address - sim_memory_base >= sim_memory_span)
        return false;
    const sim_module *module = sim_module_self();
    sim_allocation found;
    const bool live = sim_memory_find(address, &found);
    sim_finding finding = {.kind = SIM_INVALID_FREE, .tier = SIM_ERROR, .address = address};
    if (pc - module->text_lo < module->text_hi - module->text_lo)
        finding.place[0] = (sim_place){.pc = pc, .role = "call"};
    snprintf(finding.message, sizeof finding.message, "%s of memory that CUDA allocated: free it with %s", function,
             live && found.kind == SIM_MEMORY_PINNED ? "cudaFreeHost" : "cudaFree");
    sim_report(&finding);
    if (live)
        sim_memory_refuse(address);
    return true;
}

// --- the C library's functions --------------------------------------------------------------------------------------

static void *heap_malloc(size_t bytes)
{
    void *memory = use()->allocate(bytes);
    remember(memory, bytes, 0);
    return memory;
}

static void *heap_calloc(size_t count, size_t bytes)
{
    void *memory = use()->zeroed(count, bytes);
    remember(memory, count * bytes, 0); // the library has refused a product that is too large
    return memory;
}

static void *heap_realloc(void *memory, size_t bytes)
{
    if (refuse(memory, "realloc", CALLER))
        return NULL;
    const block before = forget(memory, CALLER);
    void *moved = use()->resize(memory, bytes);
    if (moved == NULL && bytes > 0 && before.start)
        remember(memory, before.bytes, before.serial); // nothing has changed
    remember(moved, bytes, moved == memory ? before.serial : 0);
    return moved;
}

static void *heap_memalign(size_t alignment, size_t bytes)
{
    void *memory = use()->aligned(alignment, bytes);
    remember(memory, bytes, 0);
    return memory;
}

static int heap_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *made = heap_memalign(alignment, bytes);
    if (made == NULL)
        return ENOMEM;
    *memory = made;
    return 0;
}

static void heap_free(void *memory)
{
    if (refuse(memory, "free", CALLER))
        return;
    forget(memory, CALLER);
    use()->release(memory);
}

static void heap_delete(void *memory)
{
    if (refuse(memory, "delete", CALLER))
        return;
    forget(memory, CALLER);
    use()->delete_one(memory);
}

static void heap_delete_array(void *memory)
{
    if (refuse(memory, "delete[]", CALLER))
        return;
    forget(memory, CALLER);
    use()->delete_array(memory);
}

REPLACE(malloc, heap_malloc);
REPLACE(calloc, heap_calloc);
REPLACE(realloc, heap_realloc);
REPLACE(memalign, heap_memalign);
REPLACE(aligned_alloc, heap_memalign);
REPLACE(posix_memalign, heap_posix_memalign);
REPLACE(free, heap_free);
// delete and delete[], by the names that the compiler gives them; with a size, which a block knows by itself, likewise.
REPLACE(_ZdlPv, heap_delete);
REPLACE(_ZdaPv, heap_delete_array);
REPLACE(_ZdlPvm, heap_delete);
REPLACE(_ZdaPvm, heap_delete_array);

#else

bool sim_host_heap_find(uintptr_t address, sim_host_block *block)
{
    (void)address;
    *block = (sim_host_block){0};
    return false;
}

bool sim_host_heap_lives(const sim_host_block *block, uintptr_t *freed_at)
{
    (void)block;
    *freed_at = 0;
    return true;
}

#endif
