// Cutting a call's workspace into arrays. The same function that lays a workspace out with a pointer measures it
// without one, so the size a rung asks for and what it uses cannot drift apart.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct heddle_scratch {
    char *base;  // NULL: only measure
    size_t used; // bytes
} heddle_scratch;

enum { HEDDLE_SCRATCH_ALIGN = 256 }; // of every array: whole cache lines, and no two workers on neighbouring ones

static inline void *heddle_scratch_take(heddle_scratch *scratch, size_t bytes)
{
    // As a number, because while measuring there is no object to point into.
    uintptr_t at = (uintptr_t)scratch->base + scratch->used;
    scratch->used += (bytes + HEDDLE_SCRATCH_ALIGN - 1) / HEDDLE_SCRATCH_ALIGN * HEDDLE_SCRATCH_ALIGN;
    return (void *)at; // NOLINT(performance-no-int-to-ptr)
}

static inline float *heddle_scratch_floats(heddle_scratch *scratch, size_t count)
{
    return heddle_scratch_take(scratch, count * sizeof(float));
}
