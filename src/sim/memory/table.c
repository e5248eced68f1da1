// The table of allocations: two buffers, of which one is current. Adding at the end (the usual case: addresses rise)
// writes behind what readers see; adding elsewhere builds the other buffer and switches. A reader that was overtaken
// twice sees so by the version and searches again.
#define _GNU_SOURCE
#include "memory/table.h"

#include <string.h>
#include <sys/mman.h>

enum { CAPACITY = 1 << 22 }; // allocations at a time; the pages of unused entries are never touched

typedef struct buffer {
    sim_allocation *entries;
    size_t count;
} buffer;

static buffer buffers[2];
static unsigned version; // its lowest bit says which buffer is current

bool sim_table_start(void)
{
    for (int i = 0; i < 2; i++) {
        void *memory = mmap(NULL, CAPACITY * sizeof(sim_allocation), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        buffers[i].entries = memory;
    }
    return true;
}

// How many entries start at or below `address`.
static size_t rank_of(const sim_allocation *entries, size_t count, uintptr_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (entries[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void sim_table_search(uintptr_t address, sim_neighbours *found)
{
    unsigned before, after;
    do {
        before = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
        const buffer *current = &buffers[before & 1];
        const size_t count = __atomic_load_n(&current->count, __ATOMIC_ACQUIRE);
        const size_t rank = rank_of(current->entries, count, address);
        found->has_below = rank > 0;
        found->has_above = rank < count;
        if (found->has_below)
            found->below = current->entries[rank - 1];
        if (found->has_above)
            found->above = current->entries[rank];
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        after = __atomic_load_n(&version, __ATOMIC_RELAXED);
    } while (after - before > 1);
}

static buffer *current_buffer(void)
{
    return &buffers[version & 1];
}

static bool has_its_addresses(const sim_allocation *entry)
{
    return entry->live || entry->kind == SIM_MEMORY_GRAPH;
}

// Copies what stays into the other buffer, with `added` in its place, and makes that one current. Freed allocations
// stay for messages unless they are in the way or room is short.
static bool rebuild(const sim_allocation *added, bool keep_freed)
{
    const buffer *from = current_buffer();
    buffer *to = &buffers[(version + 1) & 1];
    const uintptr_t start = added->start, end = added->start + added->bytes;
    size_t count = 0;
    bool placed = false;
    __atomic_store_n(&to->count, 0, __ATOMIC_RELEASE);
    for (size_t i = 0; i < from->count; i++) {
        const sim_allocation *entry = &from->entries[i];
        const bool in_the_way = entry->start < end && start < entry->start + entry->bytes + 1;
        if (!has_its_addresses(entry) && (!keep_freed || in_the_way))
            continue;
        if (!placed && entry->start > start) {
            to->entries[count++] = *added;
            placed = true;
        }
        if (count + 1 >= CAPACITY)
            return false;
        to->entries[count++] = *entry;
    }
    if (!placed)
        to->entries[count++] = *added;
    __atomic_store_n(&to->count, count, __ATOMIC_RELEASE);
    __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
    return true;
}

bool sim_table_add(const sim_allocation *allocation)
{
    buffer *current = current_buffer();
    const size_t count = current->count;
    const bool at_end = count == 0 || current->entries[count - 1].start < allocation->start;
    if (count >= CAPACITY)
        return rebuild(allocation, false);
    if (!at_end)
        return rebuild(allocation, true);
    current->entries[count] = *allocation;
    __atomic_store_n(&current->count, count + 1, __ATOMIC_RELEASE);
    return true;
}

static sim_allocation *entry_of(uintptr_t start)
{
    buffer *current = current_buffer();
    return &current->entries[rank_of(current->entries, current->count, start) - 1];
}

void sim_table_free(uintptr_t start, uintptr_t freed_at)
{
    sim_allocation *entry = entry_of(start);
    entry->freed_at = freed_at;
    __atomic_store_n(&entry->live, false, __ATOMIC_RELEASE);
}

void sim_table_retake(uintptr_t start)
{
    __atomic_store_n(&entry_of(start)->live, true, __ATOMIC_RELEASE);
}

void sim_table_refuse(uintptr_t start)
{
    __atomic_store_n(&entry_of(start)->free_refused, true, __ATOMIC_RELAXED);
}

uintptr_t sim_table_gap(uintptr_t from, uintptr_t end, size_t bytes)
{
    const buffer *current = current_buffer();
    uintptr_t candidate = from;
    for (size_t i = 0; i < current->count; i++) {
        const sim_allocation *entry = &current->entries[i];
        if (!has_its_addresses(entry) || entry->start + entry->bytes + SIM_MEMORY_GAP <= candidate)
            continue;
        if (entry->start >= candidate + bytes)
            break;
        candidate = (entry->start + entry->bytes + 2 * SIM_MEMORY_GAP - 1) / SIM_MEMORY_GAP * SIM_MEMORY_GAP;
    }
    return candidate + bytes <= end ? candidate : 0;
}

size_t sim_table_count(void)
{
    return current_buffer()->count;
}

const sim_allocation *sim_table_at(size_t index)
{
    return &current_buffer()->entries[index];
}
