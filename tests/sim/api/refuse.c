// Allocations that fail when no_memory.cu says so: stands in front of the C library's. Not CUDA, so that the simulator
// does not watch it.
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void refuse_after(long successes, int all);
int refused_any(void);

static atomic_bool counting, forever, refused;
static atomic_long left;

// So many succeed, then one fails, or all. Below 0: all succeed again.
void refuse_after(long successes, int all)
{
    atomic_store(&forever, all != 0);
    atomic_store(&left, successes);
    atomic_store(&counting, successes >= 0);
}

int refused_any(void)
{
    return atomic_load(&refused);
}

static bool refuses(void)
{
    if (!atomic_load(&counting))
        return false;
    const long before = atomic_fetch_sub(&left, 1);
    if (before > 0 || (before < 0 && !atomic_load(&forever)))
        return false;
    atomic_store(&refused, true);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return refuses() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return refuses() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return refuses() ? NULL : __libc_realloc(memory, bytes);
}
