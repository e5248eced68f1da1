// Reserving address space.
#define _GNU_SOURCE

#include "memory/reserve.h"

#include <stdint.h>
#include <sys/mman.h>

static const uintptr_t huge_page = (uintptr_t)2 << 20;
static const uintptr_t smallest_huge = (uintptr_t)8 << 20;

void *sim_reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    return memory;
}

// Only pages that lie in the range as a whole: what is beside it costs nothing then.
void sim_reserve_huge(void *start, size_t bytes)
{
    const uintptr_t first = ((uintptr_t)start + huge_page - 1) & ~(huge_page - 1);
    const uintptr_t last = ((uintptr_t)start + bytes) & ~(huge_page - 1);
    if (bytes >= smallest_huge && first < last)
        madvise((void *)first, last - first, MADV_HUGEPAGE); // NOLINT(performance-no-int-to-ptr)
}
