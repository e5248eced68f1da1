// Reserving address space.

#include "memory/reserve.h"

#include <sys/mman.h>

void *sim_reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    return memory;
}
