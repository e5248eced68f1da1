// Accesses that the compiler's hooks cannot see, told of by the headers (wmma, cp.async, ldmatrix).

#include "watch/internal.h"

void sim_touch(const volatile void *address, size_t bytes, int write)
{
    sim_access_range((uintptr_t)address, bytes, write != 0, (uintptr_t)__builtin_return_address(0));
}
