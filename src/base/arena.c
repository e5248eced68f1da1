// The arena: memory cut from blocks that are freed together.

#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 16 * 1024 }; // a few hundred small allocations for one call of the system's allocator

struct block {
    struct block *next;
    size_t used, size; // of data
    alignas(max_align_t) unsigned char data[];
};

struct heddle_arena {
    struct block *blocks; // the first one is being cut from
};

heddle_arena *heddle_arena_create(void)
{
    return calloc(1, sizeof(heddle_arena));
}

void heddle_arena_destroy(heddle_arena *arena)
{
    if (!arena)
        return;
    while (arena->blocks) {
        struct block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    free(arena);
}

// A large allocation gets its own block after the first, so that the rest of the first stays in use.
static struct block *add_block(heddle_arena *arena, size_t bytes)
{
    size_t size = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
    struct block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    if (bytes > BLOCK_SIZE && arena->blocks) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

void *heddle_arena_alloc(heddle_arena *arena, size_t bytes)
{
    const size_t alignment = alignof(max_align_t);
    if (bytes > PTRDIFF_MAX - sizeof(struct block) - alignment)
        return NULL;
    size_t rounded = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
    struct block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        block = add_block(arena, rounded);
        if (!block)
            return NULL;
    }
    void *memory = block->data + block->used;
    block->used += rounded;
    return memory;
}

char *heddle_arena_copy_text(heddle_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = heddle_arena_alloc(arena, size);
    return copy ? memcpy(copy, text, size) : NULL;
}
