// Reserves the range of a worker's stacks and opens slots in it. Below each stack lies a gap that faults, so that a
// stack overflow is noticed; it is as large as compilers' stack probes assume.
#define _GNU_SOURCE
#include "core/stacks.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "machine/worker.h"

enum {
    GAP_BYTES = 64 * 1024,   // the step of stack probes on aarch64, the largest in use
    MOST_SLOTS = 512 * 1024, // 512 resident blocks of the largest size
    LEAST_SLOTS = SIM_THREADS + 1,
    CHUNK = 32, // slots opened together
    // Each gap splits a mapping, and Linux allows a process 65530 of them: past this many stacks only chunks have a
    // gap.
    MOST_GAPS = 16 * 1024,
};

static atomic_uint gaps;

bool sim_stacks_reserve(sim_stacks *stacks, size_t stack_bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    stacks->size = (stack_bytes + GAP_BYTES - 1) & ~(size_t)(GAP_BYTES - 1);
    stacks->slot = stacks->size + GAP_BYTES;
    for (stacks->slots = MOST_SLOTS; stacks->slots >= LEAST_SLOTS; stacks->slots /= 2) {
        size_t bytes = stacks->slot * stacks->slots;
        size_t list_bytes = sizeof(uint32_t) * stacks->slots;
        void *base = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
        if (base == MAP_FAILED)
            continue;
        void *list = mmap(NULL, list_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (list == MAP_FAILED) {
            munmap(base, bytes);
            continue;
        }
        // Huge pages would give 2 MiB to a stack that uses 4 KiB.
        madvise(base, bytes, MADV_NOHUGEPAGE);
        stacks->base = base;
        stacks->unused = list;
        return true;
    }
    return false;
}

static bool open_slot(const sim_stacks *stacks, uint32_t number)
{
    return mprotect(sim_stacks_low(stacks, number), stacks->size, PROT_READ | PROT_WRITE) == 0;
}

static bool open_chunk(const sim_stacks *stacks, uint32_t first, uint32_t count)
{
    if (atomic_fetch_add(&gaps, count) < MOST_GAPS) {
        uint32_t opened = 0;
        while (opened < count && open_slot(stacks, first + opened))
            opened++;
        if (opened == count)
            return true;
    }
    char *low = sim_stacks_low(stacks, first);
    char *high = stacks->base + (size_t)(first + count) * stacks->slot;
    return mprotect(low, (size_t)(high - low), PROT_READ | PROT_WRITE) == 0;
}

uint32_t sim_stacks_grow(sim_stacks *stacks)
{
    uint32_t first = stacks->ready;
    uint32_t count = stacks->slots - first < CHUNK ? stacks->slots - first : CHUNK;
    if (count == 0 || !open_chunk(stacks, first, count))
        return SIM_NO_STACK;
    stacks->ready += count;
    for (uint32_t number = first + count - 1; number > first; number--)
        sim_stacks_give(stacks, number);
    return first;
}
