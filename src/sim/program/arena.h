// Memory that is never freed, apart from malloc: a program that crashed may hold malloc's lock.
#pragma once

#include <stddef.h>

// Zeroed and aligned for anything; NULL when the reserved address space is used up.
void *sim_arena_take(size_t bytes);
const char *sim_arena_string(const char *text, size_t length);
// Sorts pointers, equal ones staying in order. The C library's qsort takes memory from malloc.
void sim_sort(const void **items, size_t count, int (*compare)(const void *left, const void *right));
