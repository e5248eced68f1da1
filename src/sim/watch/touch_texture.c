// Reads of textures, which must not be of what the same kernel has written.

#include "race/read_only.h"
#include "watch/internal.h"

void sim_touch_texture(const volatile void *address, size_t bytes)
{
    const uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    sim_access_range((uintptr_t)address, bytes, false, pc);
    if (sim_watching && sim_current)
        sim_read_only_fetches(pc);
}
