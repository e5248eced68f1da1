// Memory for the report, taken from one reserved range and never given back, and sorting in it. It stands beside
// malloc, which may be broken or locked at the moment a crash is reported.
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "program/arena.h"

enum { ALIGNMENT = 16 };
static const size_t ARENA_BYTES = (size_t)512 << 20; // of addresses; pages are used as they are touched

static _Atomic(char *) arena;
static _Atomic size_t used;

static char *reserve(void)
{
    char *range = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    char *other = NULL;
    if (atomic_compare_exchange_strong(&arena, &other, range))
        return range;
    munmap(range, ARENA_BYTES);
    return other;
}

void *sim_arena_take(size_t bytes)
{
    char *range = atomic_load(&arena);
    if (!range)
        range = reserve();
    if (!range || bytes > ARENA_BYTES)
        return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t start = atomic_fetch_add(&used, rounded);
    if (start + rounded > ARENA_BYTES) {
        atomic_fetch_sub(&used, rounded);
        return NULL;
    }
    return range + start;
}

const char *sim_arena_string(const char *text, size_t length)
{
    char *copy = sim_arena_take(length + 1);
    if (!copy)
        return "";
    memcpy(copy, text, length);
    return copy;
}

static void merge(const void **items, const void **scratch, size_t middle, size_t count,
                  int (*compare)(const void *left, const void *right))
{
    size_t left = 0, right = middle, out = 0;
    memcpy(scratch, items, count * sizeof *items);
    while (left < middle || right < count) {
        bool take_left = right == count || (left < middle && compare(scratch[left], scratch[right]) <= 0);
        items[out++] = scratch[take_left ? left++ : right++];
    }
}

static void sort(const void **items, const void **scratch, size_t count,
                 int (*compare)(const void *left, const void *right))
{
    if (count < 2)
        return;
    size_t middle = count / 2;
    sort(items, scratch, middle, compare);
    sort(items + middle, scratch, count - middle, compare);
    if (compare(items[middle - 1], items[middle]) > 0)
        merge(items, scratch, middle, count, compare);
}

void sim_sort(const void **items, size_t count, int (*compare)(const void *left, const void *right))
{
    const void **scratch = sim_arena_take(count * sizeof *scratch);
    if (scratch)
        sort(items, scratch, count, compare);
}
