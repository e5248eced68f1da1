// Cutting a call's workspace into arrays. The same function lays out a workspace, given a pointer, and measures it,
// given none, so the size a rung requests and the size it uses cannot differ.
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
