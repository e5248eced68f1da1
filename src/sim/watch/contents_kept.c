// Copies of device memory from before and after a launch. The caller holds the lock of repeated.c.
#include "watch/contents_kept.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MEBIBYTES = 512 }; // of all copies
static size_t kept_bytes;

static uint8_t *copy_of(uintptr_t start, size_t bytes)
{
    uint8_t *copy = malloc(bytes);
    if (copy) {
        memcpy(copy, (const void *)start, bytes);
        kept_bytes += bytes;
    }
    return copy;
}

static void forget(uint8_t **copy, size_t bytes)
{
    if (*copy)
        kept_bytes -= bytes;
    free(*copy);
    *copy = NULL;
}

void sim_contents_free(sim_contents *contents)
{
    forget(&contents->before, contents->bytes);
    forget(&contents->after, contents->bytes);
}

void sim_contents_before(sim_contents *contents, uintptr_t start, size_t bytes)
{
    sim_contents_free(contents);
    contents->bytes = bytes;
    if (kept_bytes + 2 * bytes <= (size_t)MOST_MEBIBYTES << 20)
        contents->before = copy_of(start, bytes);
}

void sim_contents_after(sim_contents *contents, uintptr_t start)
{
    if (contents->before && !contents->after)
        contents->after = copy_of(start, contents->bytes);
}

bool sim_contents_are_before(const sim_contents *contents, uintptr_t start, size_t bytes)
{
    return contents->before && contents->after && contents->bytes == bytes &&
           memcmp(contents->before, (const void *)start, bytes) == 0;
}

void sim_contents_restore(const sim_contents *contents, uintptr_t start)
{
    memcpy((void *)start, contents->after, contents->bytes);
}
