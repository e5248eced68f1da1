// Runs single pieces of work: kernels, copies, fills, functions of the host. When they run is the streams' business.
#include "api/work.h"

#include <stdio.h>
#include <string.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/children.h"
#include "api/event.h"
#include "api/variable.h"
#include "core/core.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "report/copied.h"
#include "report/differing.h"
#include "watch/watch.h"

// --- kernels --------------------------------------------------------------------------------------------------------

static cudaError_t run_kernel(const sim_work *work, uint64_t number)
{
    const sim_config *config = &work->kernel.config;
    const int threads = (int)(config->block.x * config->block.y * config->block.z);
    sim_launch_state launch = {
        .kernel = &work->kernel.bound->kernel,
        .config = *config,
        .blocks = (uint64_t)config->grid.x * config->grid.y * config->grid.z,
        .threads = threads,
        .warps = (threads + SIM_LANES - 1) / SIM_LANES,
        .launched_at = work->pc,
        .number = number,
    };
    return sim_run_with_children(&launch);
}

// --- copies and fills -----------------------------------------------------------------------------------------------

static bool in_card(const void *address)
{
    return (uintptr_t)address - sim_memory_base < sim_memory_span;
}

static void warn_uninitialised(const sim_work *work, uintptr_t first, size_t bytes)
{
    sim_finding finding = {.kind = SIM_UNINITIALISED, .tier = SIM_WARNING, .address = first, .bytes = bytes};
    snprintf(finding.message, sizeof finding.message, "%s copies uninitialised device memory to the host",
             work->function);
    finding.place[0] = (sim_place){.pc = work->pc, .role = "call"};
    sim_report(&finding);
}

// What the watch is told of one stretch of bytes.
static void announce_copy(const sim_work *work, uint64_t number, uint8_t *to, const uint8_t *from, size_t bytes)
{
    const sim_copy *copy = &work->copy;
    uintptr_t first;
    if (!sim_watching)
        return;
    if (copy->to_host && in_card(from) && !sim_watch_initialised((uintptr_t)from, bytes, &first))
        warn_uninitialised(work, first, sim_watch_unwritten(first, (uintptr_t)from + bytes - first));
    if (in_card(to) && in_card(from) && !copy->from_host)
        sim_watch_copied((uintptr_t)to, (uintptr_t)from, bytes);
    else if (in_card(to))
        sim_watch_filled((uintptr_t)to, bytes);
    if (!in_card(to) && !copy->to_host)
        sim_variable_copied((uintptr_t)to, bytes, true);
    if (!in_card(from) && !copy->from_host)
        sim_variable_copied((uintptr_t)from, bytes, false);
    // Benchmarks copy the same input before each launch.
    const bool changes = !copy->from_host || memcmp(to, from, bytes) != 0;
    const uintptr_t writes = (uintptr_t)to, reads = (uintptr_t)from;
    const bool writes_known = in_card(to) || !copy->to_host || sim_memory_is_registered(writes);
    const bool reads_known = in_card(from) || !copy->from_host || sim_memory_is_registered(reads);
    sim_watch_copy(number, writes_known ? writes : 0, reads_known ? reads : 0, bytes, changes, work->function,
                   work->pc);
}

// What a stream before it has freed since the call was checked, or a graph before it has not allocated.
static bool is_gone(const sim_work *work, const void *memory, const char *role)
{
    const uintptr_t address = (uintptr_t)memory;
    sim_allocation found;
    if (!in_card(memory) || sim_memory_find(address, &found) || !sim_memory_nearest(address, &found))
        return false;
    sim_finding finding = {.kind = SIM_USE_AFTER_FREE,
                           .tier = SIM_ERROR,
                           .address = address,
                           .bytes = 1,
                           .place = {{.pc = work->pc, .role = "call"}, {.pc = found.freed_at, .role = "freed"}}};
    snprintf(finding.message, sizeof finding.message, "%s: the %s %s", work->function, role,
             found.freed_at != 0 ? "has been freed" : "is memory of a graph that has not allocated it yet");
    sim_report(&finding);
    return true;
}

// What the host has freed since: the copy would read or overwrite what lies there now.
static bool is_freed(const sim_work *work, const void *memory, const sim_host_block *block, const char *role)
{
    uintptr_t freed_at;
    if (sim_host_heap_lives(block, &freed_at))
        return false;
    sim_finding finding = {.kind = SIM_USE_AFTER_FREE,
                           .tier = SIM_ERROR,
                           .address = (uintptr_t)memory,
                           .bytes = 1,
                           .place = {{.pc = work->pc, .role = "call"}, {.pc = freed_at, .role = "freed"}}};
    snprintf(finding.message, sizeof finding.message, "%s: the %s is host memory that was freed before the copy ran",
             work->function, role);
    sim_report(&finding);
    return true;
}

static void run_copy(const sim_work *work, uint64_t number)
{
    const sim_copy *copy = &work->copy;
    if (is_gone(work, copy->to, "destination") || is_gone(work, copy->from, "source") ||
        is_freed(work, copy->to, &copy->to_block, "destination") ||
        is_freed(work, copy->from, &copy->from_block, "source"))
        return;
    const bool contiguous = copy->to_pitch == copy->width && copy->from_pitch == copy->width &&
                            copy->to_slice == copy->width * copy->height &&
                            copy->from_slice == copy->width * copy->height;
    const size_t rows = contiguous ? 1 : copy->height, slices = contiguous ? 1 : copy->depth;
    const size_t bytes = contiguous ? copy->width * copy->height * copy->depth : copy->width;
    sim_copied copied;
    sim_copied_begin(&copied);
    for (size_t z = 0; z < slices; z++) {
        for (size_t y = 0; y < rows; y++) {
            uint8_t *to = copy->to + z * copy->to_slice + y * copy->to_pitch;
            const uint8_t *from = copy->from + z * copy->from_slice + y * copy->from_pitch;
            announce_copy(work, number, to, from, bytes);
            if (copy->to_host && !copy->from_host)
                sim_variable_handed_out(from, bytes);
            memmove(to, from, bytes);
            if (copy->to_host)
                sim_copied_add(&copied, from, bytes, sim_watching);
            if (copy->to_host && !copy->from_host)
                sim_differing_row(work->submitted, from, bytes);
        }
    }
    copied.submitted = work->submitted;
    copied.pc = work->pc;
    copied.to = (uintptr_t)copy->to;
    copied.thread = work->thread;
    if (!copy->to_host || copy->from_host)
        return;
    sim_copied_keep(&copied);
    sim_differing_end(work->submitted, work->pc,
                      copied.singles.fits   ? SIM_COPIED_FLOATS
                      : copied.doubles.fits ? SIM_COPIED_DOUBLES
                                            : SIM_COPIED_BYTES);
}

static void fill_row(uint8_t *to, const sim_fill *fill)
{
    if (fill->element == 1) {
        memset(to, (int)(fill->value & 0xff), fill->width);
        return;
    }
    for (size_t i = 0; i + fill->element <= fill->width; i += fill->element)
        memcpy(to + i, &fill->value, fill->element); // little endian: the low bytes come first
}

// Benchmarks set 50 MB to zero before each launch, to clear the cache: once is enough.
static void run_simple_fill(const sim_work *work, uint64_t number)
{
    const sim_fill *fill = &work->fill;
    const uintptr_t to = (uintptr_t)fill->to;
    const bool known = sim_repeated_fill_is(to, fill->width, fill->value, fill->element);
    if (!known)
        sim_watch_filled(to, fill->width);
    sim_watch_copy(number, to, 0, fill->width, true, work->function, work->pc);
    if (!known)
        fill_row(fill->to, fill);
    sim_repeated_fill_end(to, fill->width, fill->value, fill->element);
}

static void run_fill(const sim_work *work, uint64_t number)
{
    const sim_fill *fill = &work->fill;
    if (is_gone(work, fill->to, "destination"))
        return;
    if (sim_watching && in_card(fill->to) && fill->depth == 1 && fill->height == 1) {
        run_simple_fill(work, number);
        return;
    }
    for (size_t z = 0; z < fill->depth; z++) {
        for (size_t y = 0; y < fill->height; y++) {
            uint8_t *to = fill->to + z * fill->slice + y * fill->pitch;
            if (sim_watching && in_card(to))
                sim_watch_filled((uintptr_t)to, fill->width);
            else if (sim_watching)
                sim_variable_copied((uintptr_t)to, fill->width, true);
            if (sim_watching)
                sim_watch_copy(number, (uintptr_t)to, 0, fill->width, true, work->function, work->pc);
            fill_row(to, fill);
        }
    }
}

// cudaMallocAsync. The address is known at the call; other streams may use it when they come after this.
static void run_give(const sim_work *work, uint64_t number)
{
    sim_allocation given;
    if (sim_watching && sim_memory_find((uintptr_t)work->memory, &given))
        sim_watch_given(number, given.start, given.bytes, work->function, work->pc);
}

// cudaFreeAsync
static void run_free(const sim_work *work, uint64_t number)
{
    sim_allocation freed;
    if (sim_watching && sim_memory_find((uintptr_t)work->memory, &freed))
        sim_watch_free(number, freed.start, freed.bytes, work->pc);
    sim_free_now(work->memory, work->pc, work->function);
}

// --- all of it ------------------------------------------------------------------------------------------------------

cudaError_t sim_work_run(sim_work *work, uint64_t number, cudaStream_t stream)
{
    switch (work->kind) {
    case SIM_WORK_NOTHING:
    case SIM_WORK_CONDITION: break; // whose pieces are queued by sim_condition_run
    case SIM_WORK_KERNEL: return run_kernel(work, number);
    case SIM_WORK_COPY: run_copy(work, number); break;
    case SIM_WORK_FILL: run_fill(work, number); break;
    case SIM_WORK_HOST:
        sim_host_function_enter();
        work->host.function(work->host.data);
        sim_host_function_leave();
        break;
    case SIM_WORK_CALLBACK:
        sim_host_function_enter();
        work->callback.function(stream, sim_error_broken(), work->callback.data);
        sim_host_function_leave();
        break;
    case SIM_WORK_RECORD: sim_event_recorded(work->event); break;
    case SIM_WORK_ALLOCATE: sim_allocate_again(work->allocation.memory, work->allocation.frees_first, work->pc); break;
    case SIM_WORK_GIVE: run_give(work, number); break;
    case SIM_WORK_FREE: run_free(work, number); break;
    }
    return cudaSuccess;
}
