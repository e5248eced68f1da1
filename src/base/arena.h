// Arena: many small allocations with one lifetime, freed together.
#pragma once

#include <stddef.h>

typedef struct heddle_arena heddle_arena;

heddle_arena *heddle_arena_create(void);        // NULL when out of memory
void heddle_arena_destroy(heddle_arena *arena); // NULL is fine
// Zeroed, aligned for any type; NULL when out of memory. Stays where it is until the arena goes.
void *heddle_arena_alloc(heddle_arena *arena, size_t bytes);
char *heddle_arena_copy_text(heddle_arena *arena, const char *text);
