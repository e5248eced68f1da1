// Live allocations, sorted by address: a wrong pointer can be told from one into the middle of an allocation.

#include "device/allocations.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

void heddle_allocations_init(heddle_allocations *allocations)
{
    *allocations = (heddle_allocations){0};
    pthread_mutex_init(&allocations->lock, NULL);
}

void heddle_allocations_destroy(heddle_allocations *allocations)
{
    pthread_mutex_destroy(&allocations->lock);
    free(allocations->list);
}

// Number of allocations that start at or below `memory`.
static size_t count_up_to(const heddle_allocations *allocations, const void *memory)
{
    size_t low = 0;
    size_t high = allocations->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)allocations->list[middle].memory <= (uintptr_t)memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(heddle_allocations *allocations)
{
    if (allocations->count < allocations->room)
        return true;
    size_t room = allocations->room ? 2 * allocations->room : FIRST_ROOM;
    heddle_allocation *list = realloc(allocations->list, room * sizeof *list);
    if (!list)
        return false;
    allocations->list = list;
    allocations->room = room;
    return true;
}

heddle_status heddle_allocations_add(heddle_allocations *allocations, heddle_allocation allocation)
{
    pthread_mutex_lock(&allocations->lock);
    bool added = make_room(allocations);
    if (added) {
        size_t place = count_up_to(allocations, allocation.memory);
        heddle_allocation *here = allocations->list + place;
        memmove(here + 1, here, (allocations->count - place) * sizeof *here);
        *here = allocation;
        allocations->count++;
    }
    pthread_mutex_unlock(&allocations->lock);
    return added ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to keep track of an allocation");
}

static heddle_status explain(const heddle_allocation *below, const void *memory, bool pinned)
{
    const char *alloc = pinned ? "heddle_alloc_pinned" : "heddle_alloc";
    size_t offset = below ? (size_t)((uintptr_t)memory - (uintptr_t)below->memory) : 0;
    if (below && offset == 0)
        return heddle_fail(HEDDLE_INVALID, "%p is %s memory: free it with %s", memory,
                           below->pinned ? "pinned" : "device", below->pinned ? "heddle_free_pinned" : "heddle_free");
    if (below && offset < below->bytes)
        return heddle_fail(HEDDLE_INVALID, "%p is %zu bytes into an allocation: free the pointer that %s gave", memory,
                           offset, below->pinned ? "heddle_alloc_pinned" : "heddle_alloc");
    return heddle_fail(HEDDLE_INVALID, "%p is not from %s on this device, or was freed before", memory, alloc);
}

heddle_status heddle_allocations_remove(heddle_allocations *allocations, void *memory, bool pinned,
                                        heddle_allocation *allocation)
{
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&allocations->lock);
    size_t place = count_up_to(allocations, memory);
    heddle_allocation *below = place > 0 ? allocations->list + place - 1 : NULL;
    if (below && below->memory == memory && below->pinned == pinned) {
        *allocation = *below;
        memmove(below, below + 1, (allocations->count - place) * sizeof *below);
        allocations->count--;
    } else {
        status = explain(below, memory, pinned);
    }
    pthread_mutex_unlock(&allocations->lock);
    return status;
}

bool heddle_allocations_are_pinned(heddle_allocations *allocations, const void *memory, size_t bytes)
{
    pthread_mutex_lock(&allocations->lock);
    const size_t place = count_up_to(allocations, memory);
    const heddle_allocation *below = place > 0 ? allocations->list + place - 1 : NULL;
    const size_t offset = below ? (size_t)((uintptr_t)memory - (uintptr_t)below->memory) : 0;
    const bool pinned = below && below->pinned && offset < below->bytes && bytes <= below->bytes - offset;
    pthread_mutex_unlock(&allocations->lock);
    return pinned;
}

bool heddle_allocations_pop(heddle_allocations *allocations, heddle_allocation *allocation)
{
    pthread_mutex_lock(&allocations->lock);
    bool any = allocations->count > 0;
    if (any)
        *allocation = allocations->list[--allocations->count];
    pthread_mutex_unlock(&allocations->lock);
    return any;
}
