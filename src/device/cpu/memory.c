// Memory of the cpu device. "Device" memory is aligned host memory; pinned memory is whole pages, locked where the
// system allows it.

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/text.h"
#include "device/cpu/cpu.h"

enum {
    ALIGNMENT = 256,     // what heddle_alloc promises; a multiple of cache lines and vector widths
    HUGE_PAGE = 2 << 20, // from twice this on, large pages spare page faults and TLB misses
};

// Linux hands out memory it does not have and kills the process that then uses it; better to say so now.
static heddle_status check_size(const struct cpu_device *device, size_t bytes)
{
    char wanted[32];
    char total[32];
    if (bytes <= device->memory_total && bytes <= PTRDIFF_MAX - HUGE_PAGE)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_OUT_OF_MEMORY,
                       "%s asked for on the cpu device, which has %s: use a smaller batch or model",
                       heddle_text_bytes((double)bytes, wanted, sizeof wanted),
                       heddle_text_bytes((double)device->memory_total, total, sizeof total));
}

static heddle_status out_of_memory(size_t bytes)
{
    char text[32];
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s on the cpu device: use a smaller batch or model",
                       heddle_text_bytes((double)bytes, text, sizeof text));
}

heddle_status heddle_cpu_alloc(heddle_device *device, size_t bytes, void **memory)
{
    HEDDLE_TRY(check_size(cpu_device_of(device), bytes));
    size_t alignment = bytes >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void *found = aligned_alloc(alignment, rounded);
    if (!found)
        return out_of_memory(bytes);
    // Advice only: where it is refused, small pages do.
    if (alignment == HUGE_PAGE)
        madvise(found, rounded, MADV_HUGEPAGE);
    *memory = found;
    return HEDDLE_OK;
}

void heddle_cpu_free(heddle_device *device, void *memory, size_t bytes)
{
    (void)device;
    (void)bytes;
    free(memory);
}

heddle_status heddle_cpu_alloc_pinned(heddle_device *device, size_t bytes, void **memory)
{
    HEDDLE_TRY(check_size(cpu_device_of(device), bytes));
    void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return out_of_memory(bytes);
    // The limit of locked memory is often small; unlocked pages are slower in the worst case, never wrong.
    mlock(found, bytes);
    *memory = found;
    return HEDDLE_OK;
}

void heddle_cpu_free_pinned(heddle_device *device, void *memory, size_t bytes)
{
    (void)device;
    munmap(memory, bytes);
}
