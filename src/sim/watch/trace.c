// Recording the trace. Accesses are kept as lanes make them, and become events when merge.c lays the lanes of a warp
// side by side. Each block has its own record, so that the trace does not depend on which worker ran it.

#include "watch/trace.h"

#include <string.h>

#include "machine/options.h"
#include "memory/reserve.h"
#include "program/program.h"
#include "watch/internal.h"

static const sim_launch_trace *launches[SIM_TRACE_LAUNCHES];
static unsigned launch_count;
static uint64_t launches_left_out, accesses;

static sim_trace_operation *operations;
static unsigned operation_count;
static uint64_t operations_left_out;

bool sim_trace_wanted(void)
{
    return sim_options_get()->trace != NULL;
}

// --- launches and blocks --------------------------------------------------------------------------------------------

void sim_trace_launch_begin(sim_launch_state *launch)
{
    const sim_config *config = &launch->config;
    launch->trace = NULL;
    if (!sim_trace_wanted())
        return;
    const bool room =
        launch_count < SIM_TRACE_LAUNCHES && __atomic_load_n(&accesses, __ATOMIC_RELAXED) < SIM_TRACE_ACCESSES;
    sim_launch_trace *trace = room ? sim_reserve(sizeof *trace) : NULL;
    if (!trace) {
        launches_left_out++;
        return;
    }
    *trace = (sim_launch_trace){.number = launch->number,
                                .kernel = launch->kernel->name,
                                .grid = {config->grid.x, config->grid.y, config->grid.z},
                                .block = {config->block.x, config->block.y, config->block.z},
                                .grid_blocks = launch->blocks,
                                .shared = config->shared,
                                .launched_at = launch->launched_at};
    launch->trace = trace;
    launches[launch_count++] = trace;
}

// Which of its traced blocks this one is: the first ones, and the last; SIM_TRACE_BLOCKS: none.
static unsigned place_of(const sim_launch_trace *launch, uint64_t number)
{
    if (number < SIM_TRACE_BLOCKS - 1)
        return (unsigned)number;
    return number == launch->grid_blocks - 1 ? SIM_TRACE_BLOCKS - 1 : SIM_TRACE_BLOCKS;
}

void sim_trace_block_begin(sim_worker *worker)
{
    sim_block *block = worker->block;
    sim_launch_trace *launch = worker->launch->trace;
    const unsigned place = launch ? place_of(launch, block->number) : SIM_TRACE_BLOCKS;
    block->trace = NULL;
    if (block->unwatched || place == SIM_TRACE_BLOCKS)
        return;
    sim_block_trace *trace = sim_reserve(sizeof *trace);
    sim_trace_access *room = sim_reserve(SIM_TRACE_BLOCK_ACCESSES * sizeof *room);
    sim_trace_event *events = sim_reserve(SIM_TRACE_EVENTS * sizeof *events);
    if (!trace || !room || !events)
        return;
    trace->number = block->number;
    memcpy(trace->index, block->index, sizeof trace->index);
    trace->accesses = room;
    trace->events = events;
    for (int warp = 0; warp < SIM_TRACE_WARPS && warp < worker->launch->warps; warp++) {
        const int lanes = worker->launch->threads - warp * SIM_LANES;
        trace->live[warp] = lanes >= SIM_LANES ? UINT32_MAX : (1u << lanes) - 1;
    }
    launch->blocks[place] = trace;
    block->trace = trace;
}

// --- memory ---------------------------------------------------------------------------------------------------------

static bool holds(const sim_trace_buffer *buffer, uintptr_t address)
{
    return address - buffer->start < buffer->bytes;
}

static unsigned find(const sim_block_trace *trace, bool shared, uintptr_t address)
{
    for (unsigned i = 0; i < trace->buffer_count; i++) {
        const sim_trace_space space = trace->buffers[i].space;
        if ((space == SIM_TRACE_SHARED || space == SIM_TRACE_DYNAMIC) == shared && holds(&trace->buffers[i], address))
            return i;
    }
    return SIM_TRACE_NO_BUFFER;
}

static unsigned add(sim_block_trace *trace, const sim_trace_buffer *buffer)
{
    for (unsigned i = 0; i < trace->buffer_count; i++)
        if (trace->buffers[i].space == buffer->space && trace->buffers[i].start == buffer->start)
            return i;
    if (trace->buffer_count == SIM_TRACE_BUFFERS)
        return SIM_TRACE_NO_BUFFER;
    trace->buffers[trace->buffer_count] = *buffer;
    return trace->buffer_count++;
}

static unsigned add_symbol(sim_block_trace *trace, sim_trace_space space, const sim_symbol *symbol, uintptr_t base)
{
    sim_trace_buffer buffer = {.space = space, .start = symbol->start - base, .bytes = symbol->bytes};
    memcpy(buffer.name, symbol->name, sizeof buffer.name);
    return add(trace, &buffer);
}

static unsigned add_shared(const sim_worker *worker, uintptr_t address)
{
    const uintptr_t low = worker->thread_local_lo, dynamic = worker->dynamic_lo;
    sim_symbol symbol;
    if (dynamic && address - dynamic < worker->launch->config.shared)
        return add(worker->block->trace, &(sim_trace_buffer){.space = SIM_TRACE_DYNAMIC,
                                                             .start = dynamic - low,
                                                             .bytes = worker->launch->config.shared});
    if (!sim_symbol_nearest_shared(address, low, &symbol))
        return SIM_TRACE_NO_BUFFER;
    return add_symbol(worker->block->trace, SIM_TRACE_SHARED, &symbol, low);
}

static unsigned add_other(sim_block_trace *trace, uintptr_t address, unsigned bytes)
{
    sim_allocation found;
    sim_symbol symbol;
    const bool on_card = address - sim_memory_base < sim_memory_span;
    if (sim_memory_find(address, &found) || (on_card && sim_memory_meant(address, bytes, &found)))
        return add(trace, &(sim_trace_buffer){.space = SIM_TRACE_ALLOCATION,
                                              .memory = found.kind,
                                              .start = found.start,
                                              .bytes = found.bytes,
                                              .allocated_at = found.allocated_at,
                                              .function = found.function});
    if (!on_card && sim_symbol_at(address, &symbol))
        return add_symbol(trace, SIM_TRACE_VARIABLE, &symbol, 0);
    return SIM_TRACE_NO_BUFFER;
}

// A new access of the current thread; SIM_TRACE_BLOCK_ACCESSES: there is no room.
static uint32_t keep(sim_worker *worker, uintptr_t address, unsigned bytes)
{
    sim_block_trace *trace = worker->block->trace;
    if (trace->access_count == SIM_TRACE_BLOCK_ACCESSES || trace->event_count >= SIM_TRACE_EVENTS - SIM_TRACE_WARPS) {
        trace->stopped = true;
        return SIM_TRACE_BLOCK_ACCESSES;
    }
    const uintptr_t low = worker->thread_local_lo;
    const bool shared = address - low < worker->thread_local_hi - low;
    const uintptr_t at = shared ? address - low : address;
    unsigned buffer = bytes > 0 ? find(trace, shared, at) : SIM_TRACE_NO_BUFFER; // an index is not an address
    if (buffer == SIM_TRACE_NO_BUFFER && bytes > 0)
        buffer = shared ? add_shared(worker, address) : add_other(trace, address, bytes);
    const uintptr_t start = buffer == SIM_TRACE_NO_BUFFER ? 0 : trace->buffers[buffer].start;
    __atomic_fetch_add(&accesses, 1, __ATOMIC_RELAXED);
    trace->accesses[trace->access_count] = (sim_trace_access){.offset = (int64_t)(at - start),
                                                              .event = UINT32_MAX,
                                                              .thread = (uint16_t)worker->thread,
                                                              .buffer = (uint8_t)buffer};
    return trace->access_count++;
}

// --- accesses -------------------------------------------------------------------------------------------------------

void sim_trace_settle(sim_worker *worker)
{
    sim_block_trace *trace = worker->block->trace;
    if (!trace->store.address)
        return;
    sim_trace_access *access = &trace->accesses[trace->store.access];
    memcpy(&access->value, (const void *)trace->store.address, trace->store.bytes); // NOLINT(performance-no-int-to-ptr)
    access->valued = true;
    trace->store.address = 0;
}

void sim_trace_logged(sim_worker *worker, uintptr_t address)
{
    sim_block_trace *trace = worker->block->trace;
    const int lane = worker->lane;
    sim_trace_settle(worker);
    if (trace->stopped || worker->block->unwatched || worker->warp >= SIM_TRACE_WARPS ||
        trace->tail[lane] == SIM_TRACE_PENDING)
        return;
    const uint32_t access = keep(worker, address, 1);
    if (access == SIM_TRACE_BLOCK_ACCESSES)
        return;
    trace->pending[lane][trace->tail[lane]++] = access;
    trace->latest[worker->thread].address = address;
    trace->latest[worker->thread].access = access;
}

void sim_trace_stores(sim_worker *worker, uintptr_t address, unsigned bytes)
{
    sim_block_trace *trace = worker->block->trace;
    if (trace->stopped || worker->warp >= SIM_TRACE_WARPS || bytes > sizeof(uint64_t) ||
        trace->latest[worker->thread].address != address) // of kernel arguments, say, which are not recorded
        return;
    trace->store.address = address;
    trace->store.access = trace->latest[worker->thread].access;
    trace->store.bytes = bytes;
}

static uint32_t tell(sim_block_trace *trace, const sim_trace_event *event)
{
    if (trace->event_count == SIM_TRACE_EVENTS) {
        trace->stopped = true;
        return UINT32_MAX;
    }
    trace->events[trace->event_count] = *event;
    return trace->event_count++;
}

void sim_trace_wrong(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_block_trace *trace = worker->block->trace;
    if (trace->stopped || worker->warp >= SIM_TRACE_WARPS || trace->wrong_count == SIM_FAULTS)
        return;
    const uint32_t access = keep(worker, address, bytes);
    if (access == SIM_TRACE_BLOCK_ACCESSES)
        return;
    trace->wrong[trace->wrong_count].access = access;
    trace->wrong[trace->wrong_count++].event = (sim_trace_event){.kind = SIM_TRACE_WRONG,
                                                                 .access = (uint8_t)kind,
                                                                 .bytes = (uint8_t)bytes,
                                                                 .warp = (uint8_t)worker->warp,
                                                                 .lanes = 1u << worker->lane,
                                                                 .pc = pc};
}

void sim_trace_row(sim_worker *worker, const sim_row *row)
{
    sim_block_trace *trace = worker->block->trace;
    const sim_site *site = &sim_sites[row->site];
    uint32_t event = UINT32_MAX;
    for (uint32_t rest = worker->warp < SIM_TRACE_WARPS ? row->mask : 0; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (trace->head[lane] == trace->tail[lane])
            continue; // made after the trace stopped
        if (event == UINT32_MAX)
            event = tell(trace, &(sim_trace_event){.kind = SIM_TRACE_ACCESS,
                                                   .access = site->kind,
                                                   .bytes = site->bytes,
                                                   .copy = site->copy,
                                                   .warp = (uint8_t)worker->warp,
                                                   .pc = site->pc});
        const uint32_t access = trace->pending[lane][trace->head[lane]++];
        if (trace->head[lane] == trace->tail[lane])
            trace->head[lane] = trace->tail[lane] = 0;
        if (event == UINT32_MAX)
            continue;
        trace->events[event].lanes |= 1u << lane;
        trace->accesses[access].event = event;
    }
}

// --- barriers -------------------------------------------------------------------------------------------------------

static void flush_wrong(sim_block_trace *trace)
{
    for (unsigned i = 0; i < trace->wrong_count; i++)
        trace->accesses[trace->wrong[i].access].event = tell(trace, &trace->wrong[i].event);
    trace->wrong_count = 0;
}

// What is left of a lane's accesses moves to the front.
static void compact(sim_block_trace *trace)
{
    for (int lane = 0; lane < SIM_LANES; lane++) {
        const uint32_t head = trace->head[lane], left = trace->tail[lane] - head;
        if (head == 0)
            continue;
        memmove(trace->pending[lane], trace->pending[lane] + head, left * sizeof(uint32_t));
        trace->head[lane] = 0;
        trace->tail[lane] = left;
    }
}

// The lanes of a warp at one place are one event.
static void tell_lanes(const sim_block *block, sim_trace_kind kind, int warp, uint32_t lanes)
{
    while (lanes) {
        const uintptr_t pc = block->waits_at[warp * SIM_LANES + __builtin_ctz(lanes)];
        uint32_t group = 0;
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            if (block->waits_at[warp * SIM_LANES + __builtin_ctz(rest)] == pc)
                group |= rest & -rest;
        tell(block->trace, &(sim_trace_event){.kind = (uint8_t)kind, .warp = (uint8_t)warp, .lanes = group, .pc = pc});
        lanes &= ~group;
    }
}

static bool waits(uint8_t state)
{
    return state == SIM_AT_BARRIER || state == SIM_AT_NAMED || state == SIM_AT_GRID;
}

static void arrive(const sim_block *block, int warp)
{
    sim_block_trace *trace = block->trace;
    uint32_t there = 0;
    for (int lane = 0; lane < SIM_LANES; lane++)
        there |= (uint32_t)waits(block->state[warp * SIM_LANES + lane]) << lane;
    there &= block->live[warp];
    tell_lanes(block, SIM_TRACE_ARRIVE, warp, there & ~trace->arrived[warp]);
    trace->arrived[warp] = there;
}

void sim_trace_warp_stopped(sim_worker *worker)
{
    const sim_block *block = worker->block;
    sim_block_trace *trace = block->trace;
    flush_wrong(trace);
    compact(trace);
    const int warp = worker->warp;
    if (trace->stopped || warp >= SIM_TRACE_WARPS)
        return;
    arrive(block, warp);
    const uint32_t ended = trace->live[warp] & ~block->live[warp] & block->started[warp];
    trace->live[warp] &= ~ended;
    if (ended)
        tell(trace, &(sim_trace_event){.kind = SIM_TRACE_EXIT, .warp = (uint8_t)warp, .lanes = ended});
}

void sim_trace_block_end(sim_worker *worker)
{
    const sim_block *block = worker->block;
    sim_block_trace *trace = block->trace;
    flush_wrong(trace);
    for (int warp = 0; warp < SIM_TRACE_WARPS && !trace->stopped; warp++) {
        const uint32_t ended = trace->live[warp] & ~block->live[warp];
        if (ended)
            tell(trace, &(sim_trace_event){.kind = SIM_TRACE_EXIT, .warp = (uint8_t)warp, .lanes = ended});
    }
}

void sim_trace_barrier(sim_worker *worker)
{
    const sim_block *block = worker->block;
    uint32_t members[SIM_WARPS] = {0};
    for (int warp = 0; warp < worker->launch->warps && warp < SIM_TRACE_WARPS; warp++)
        members[warp] = block->live[warp];
    sim_trace_barrier_some(worker, -1, members);
}

void sim_trace_barrier_some(sim_worker *worker, int id, const uint32_t members[SIM_WARPS])
{
    sim_block_trace *trace = worker->block->trace;
    uint32_t warps = 0;
    flush_wrong(trace);
    for (int warp = 0; warp < SIM_TRACE_WARPS && !trace->stopped; warp++) {
        if (!members[warp])
            continue;
        tell_lanes(worker->block, SIM_TRACE_ARRIVE, warp, members[warp] & ~trace->arrived[warp]);
        trace->arrived[warp] &= ~members[warp];
        warps |= 1u << warp;
    }
    if (warps && !trace->stopped)
        tell(trace, &(sim_trace_event){.kind = SIM_TRACE_LEAVE, .barrier = (int16_t)id, .lanes = warps});
}

void sim_trace_warp_met(sim_worker *worker, uint32_t mask)
{
    flush_wrong(worker->block->trace);
    if (!worker->block->trace->stopped && worker->warp < SIM_TRACE_WARPS)
        tell_lanes(worker->block, SIM_TRACE_SYNCWARP, worker->warp, mask);
}

void sim_trace_forsaken(sim_worker *worker)
{
    flush_wrong(worker->block->trace);
    worker->block->trace->stopped = true;
}

// --- streams --------------------------------------------------------------------------------------------------------

void sim_trace_operation_ran(const sim_trace_operation *operation)
{
    if (!operations)
        operations = sim_reserve(SIM_TRACE_OPERATIONS * sizeof *operations);
    if (!operations || operation_count == SIM_TRACE_OPERATIONS)
        operations_left_out++;
    else
        operations[operation_count++] = *operation;
}

// --- for the writer -------------------------------------------------------------------------------------------------

unsigned sim_trace_launches(const sim_launch_trace *const **all, uint64_t *left_out)
{
    *all = launches;
    *left_out = launches_left_out;
    return launch_count;
}

unsigned sim_trace_operations(const sim_trace_operation **all, uint64_t *left_out)
{
    *all = operations;
    *left_out = operations_left_out;
    return operation_count;
}
