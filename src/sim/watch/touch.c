// Accesses that the compiler's hooks cannot see, told of by the headers (wmma, cp.async, ldmatrix).

#include "watch/internal.h"
#include "watch/watch.h"

void sim_watch_access(uintptr_t address, size_t bytes, bool write, uintptr_t pc)
{
    sim_access_range(address, bytes, write, pc);
}

void sim_touch(const volatile void *address, size_t bytes, int write)
{
    sim_access_range((uintptr_t)address, bytes, write != 0, (uintptr_t)__builtin_return_address(0));
}
