// The trace (watch/trace.h) as JSON, in the form that docs/json.md gives; `heddle check` adds what it read in the
// source. Numbers of the lanes of one event that grow evenly are written as their first and their step.
#include "watch/trace.h"

#include <stdio.h>
#include <string.h>

#include "machine/options.h"
#include "race/site.h"
#include "report/internal.h"
#include "report/json.h"

// --- places ---------------------------------------------------------------------------------------------------------

enum { MOST_PLACES = 4096, PLACE_ROOM = 2 * MOST_PLACES }; // others have none
static struct {
    uintptr_t at[MOST_PLACES];
    uint16_t slot[PLACE_ROOM]; // index + 1
    unsigned count;
} * places;

static int place_of(uintptr_t pc)
{
    if (!pc || !places)
        return -1;
    size_t slot = (pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PLACE_ROOM;
    while (places->slot[slot] && places->at[places->slot[slot] - 1] != pc)
        slot = (slot + 1) % PLACE_ROOM;
    if (!places->slot[slot]) {
        if (places->count == MOST_PLACES)
            return -1;
        places->at[places->count++] = pc;
        places->slot[slot] = (uint16_t)places->count;
        sim_lines_want(pc);
    }
    return places->slot[slot] - 1;
}

static void want_block(const sim_block_trace *block)
{
    for (unsigned i = 0; block && i < block->buffer_count; i++)
        place_of(block->buffers[i].allocated_at);
    for (uint32_t i = 0; block && i < block->event_count; i++)
        place_of(block->events[i].pc);
}

void sim_trace_want(void)
{
    const sim_launch_trace *const *launches;
    const sim_trace_operation *operations;
    uint64_t left_out;
    places = sim_arena_take(sizeof *places);
    const unsigned count = sim_trace_launches(&launches, &left_out);
    for (unsigned i = 0; i < count; i++) {
        place_of(launches[i]->launched_at);
        for (int b = 0; b < SIM_TRACE_BLOCKS; b++)
            want_block(launches[i]->blocks[b]);
    }
    const unsigned ran = sim_trace_operations(&operations, &left_out);
    for (unsigned i = 0; i < ran; i++)
        place_of(operations[i].pc);
}

static void write_place_number(sim_json *out, uintptr_t pc)
{
    const int place = place_of(pc);
    if (place >= 0)
        sim_json_unsigned(out, "place", (uint64_t)place);
}

static void write_places(sim_json *out)
{
    sim_json_open(out, "places", '[');
    for (unsigned i = 0; places && i < places->count; i++) {
        const sim_stack *stack = sim_lines_of(places->at[i]);
        sim_json_open(out, NULL, '{');
        sim_json_string(out, "file", stack ? stack->frames[0].file : "");
        sim_json_unsigned(out, "line", stack ? stack->frames[0].line : 0);
        sim_json_string(out, "function", stack ? stack->frames[0].function : "");
        sim_json_unsigned(out, "offset", places->at[i] - sim_module_self()->base);
        sim_json_close(out, '}');
    }
    sim_json_close(out, ']');
}

// --- buffers --------------------------------------------------------------------------------------------------------

enum { MOST_BUFFERS = 4096 };
static struct {
    const sim_trace_buffer *at[MOST_BUFFERS];
    uint64_t launch[MOST_BUFFERS]; // of extern __shared__, which each launch has of its own
    unsigned count;
} * buffers;

static int buffer_of(const sim_trace_buffer *buffer, uint64_t launch)
{
    const uint64_t of = buffer->space == SIM_TRACE_DYNAMIC ? launch : 0;
    for (unsigned i = 0; i < buffers->count; i++) {
        const sim_trace_buffer *known = buffers->at[i];
        if (known->space == buffer->space && known->start == buffer->start && known->bytes == buffer->bytes &&
            known->allocated_at == buffer->allocated_at && buffers->launch[i] == of)
            return (int)i;
    }
    if (buffers->count == MOST_BUFFERS)
        return -1;
    buffers->at[buffers->count] = buffer;
    buffers->launch[buffers->count] = of;
    return (int)buffers->count++;
}

static const char *space_of(const sim_trace_buffer *buffer)
{
    static const char *const memory[] = {[SIM_MEMORY_DEVICE] = "global",
                                         [SIM_MEMORY_PINNED] = "pinned",
                                         [SIM_MEMORY_MANAGED] = "managed",
                                         [SIM_MEMORY_HEAP] = "device heap"};
    switch (buffer->space) {
    case SIM_TRACE_ALLOCATION: return memory[buffer->memory];
    case SIM_TRACE_SHARED:
    case SIM_TRACE_DYNAMIC: return "shared";
    case SIM_TRACE_VARIABLE: break;
    }
    return "device variable";
}

static void write_buffers(sim_json *out)
{
    sim_json_open(out, "buffers", '[');
    for (unsigned i = 0; i < buffers->count; i++) {
        const sim_trace_buffer *buffer = buffers->at[i];
        sim_json_open(out, NULL, '{');
        sim_json_string(out, "space", space_of(buffer));
        sim_json_string(out, "name", buffer->name);
        sim_json_unsigned(out, "bytes", buffer->bytes);
        if (buffer->space == SIM_TRACE_SHARED || buffer->space == SIM_TRACE_DYNAMIC)
            sim_json_unsigned(out, "bank", buffer->start / 4 % SIM_LANES);
        if (buffer->space == SIM_TRACE_DYNAMIC)
            sim_json_bool(out, "dynamic", true);
        if (buffer->function)
            sim_json_string(out, "call", buffer->function);
        write_place_number(out, buffer->allocated_at);
        sim_json_close(out, '}');
    }
    sim_json_close(out, ']');
}

// --- events ---------------------------------------------------------------------------------------------------------

static void write_numbers(sim_json *out, const char *name, const int64_t *values, int count)
{
    bool even = count > 2;
    for (int i = 2; i < count; i++)
        even = even && values[i] - values[i - 1] == values[1] - values[0];
    sim_json_open(out, name, even ? '{' : '[');
    if (even) {
        sim_json_signed(out, "first", values[0]);
        sim_json_signed(out, "step", values[1] - values[0]);
    }
    for (int i = 0; !even && i < count; i++)
        sim_json_signed(out, NULL, values[i]);
    sim_json_close(out, even ? '}' : ']');
}

// Numbers of more than four bytes are not exact in every reader: they are text.
static void write_values(sim_json *out, const sim_trace_access *const *lanes, int count, unsigned bytes)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= lanes[i]->valued;
    if (!any)
        return;
    sim_json_open(out, "values", '[');
    for (int i = 0; i < count; i++) {
        char text[24];
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)lanes[i]->value);
        if (!lanes[i]->valued)
            sim_json_string(out, NULL, NULL);
        else if (bytes > 4)
            sim_json_string(out, NULL, text);
        else
            sim_json_unsigned(out, NULL, lanes[i]->value);
    }
    sim_json_close(out, ']');
}

typedef struct grouped {
    const sim_block_trace *block;
    uint64_t launch;
    uint32_t *first;                 // of an event's accesses, by event
    const sim_trace_access **access; // by event and lane
} grouped;

static void write_access(sim_json *out, const grouped *in, uint32_t event)
{
    const sim_trace_event *about = &in->block->events[event];
    const sim_trace_access *const *lanes = &in->access[in->first[event]];
    const int count = __builtin_popcount(about->lanes);
    int64_t offsets[SIM_LANES] = {0}, ran[SIM_LANES] = {0}, from[SIM_LANES] = {0};
    bool one = true;
    for (int i = 0; i < count; i++) {
        const unsigned buffer = lanes[i]->buffer;
        offsets[i] = lanes[i]->offset;
        ran[i] = lanes[i] - in->block->accesses;
        from[i] = buffer == SIM_TRACE_NO_BUFFER ? -1 : buffer_of(&in->block->buffers[buffer], in->launch);
        one = one && from[i] == from[0];
    }
    sim_json_unsigned(out, "bytes", about->bytes);
    if (one)
        sim_json_signed(out, "buffer", from[0]);
    else
        write_numbers(out, "buffers", from, count);
    write_numbers(out, "offsets", offsets, count);
    write_numbers(out, "ran", ran, count);
    write_values(out, lanes, count, about->bytes);
}

static const char *kind_of(const sim_trace_event *event)
{
    static const char *const accesses[] = {
        [SIM_READ] = "read",          [SIM_WRITE] = "write",          [SIM_ATOMIC] = "atomic",
        [SIM_VOLATILE_READ] = "read", [SIM_VOLATILE_WRITE] = "write", [SIM_TRACE_INDEX] = "index"};
    static const char *const others[] = {[SIM_TRACE_ARRIVE] = "arrive",
                                         [SIM_TRACE_LEAVE] = "leave",
                                         [SIM_TRACE_SYNCWARP] = "syncwarp",
                                         [SIM_TRACE_EXIT] = "exit"};
    return event->kind <= SIM_TRACE_WRONG ? accesses[event->access] : others[event->kind];
}

static void write_event(sim_json *out, const grouped *in, uint32_t index)
{
    static const char *const copies[] = {
        [SIM_COPY_ISSUED] = "issued", [SIM_COPY_LANDED] = "landed", [SIM_COPY_SOURCE] = "source"};
    const sim_trace_event *event = &in->block->events[index];
    sim_json_open(out, NULL, '{');
    sim_json_string(out, "kind", kind_of(event));
    if (event->kind == SIM_TRACE_LEAVE) {
        sim_json_unsigned(out, "warps", event->lanes);
        if (event->barrier >= 0)
            sim_json_signed(out, "barrier", event->barrier);
    } else {
        sim_json_unsigned(out, "warp", event->warp);
        sim_json_unsigned(out, "lanes", event->lanes);
    }
    write_place_number(out, event->pc);
    if (event->kind <= SIM_TRACE_WRONG) {
        if (event->access == SIM_VOLATILE_READ || event->access == SIM_VOLATILE_WRITE)
            sim_json_bool(out, "volatile", true);
        if (event->copy != SIM_NO_COPY)
            sim_json_string(out, "copy", copies[event->copy]);
        if (event->kind == SIM_TRACE_WRONG)
            sim_json_bool(out, "wrong", true);
        write_access(out, in, index);
    }
    sim_json_close(out, '}');
}

// Accesses of a lane stand in the order of events, so that each event's are found without a search.
static void group(grouped *in)
{
    const sim_block_trace *block = in->block;
    uint32_t next = 0;
    for (uint32_t i = 0; i < block->event_count; i++) {
        const sim_trace_event *event = &block->events[i];
        in->first[i] = next;
        next += event->kind <= SIM_TRACE_WRONG ? (uint32_t)__builtin_popcount(event->lanes) : 0;
    }
    for (uint32_t i = 0; i < block->access_count; i++) {
        const sim_trace_access *access = &block->accesses[i];
        if (access->event == UINT32_MAX)
            continue;
        const uint32_t below = (1u << access->thread % SIM_LANES) - 1;
        in->access[in->first[access->event] +
                   (uint32_t)__builtin_popcount(block->events[access->event].lanes & below)] = access;
    }
}

static void write_block(sim_json *out, grouped *in)
{
    const sim_block_trace *block = in->block;
    group(in);
    sim_json_open(out, NULL, '{');
    sim_json_unsigned(out, "number", block->number);
    sim_json_triple(out, "block", block->index);
    sim_json_bool(out, "complete", !block->stopped);
    sim_json_open(out, "events", '[');
    for (uint32_t i = 0; i < block->event_count; i++)
        write_event(out, in, i);
    sim_json_close(out, ']');
    sim_json_close(out, '}');
}

static void write_launch(sim_json *out, const sim_launch_trace *launch, grouped *in)
{
    sim_json_open(out, NULL, '{');
    sim_json_unsigned(out, "number", launch->number);
    sim_json_string(out, "kernel", launch->kernel);
    sim_json_triple(out, "grid", launch->grid);
    sim_json_triple(out, "block", launch->block);
    sim_json_unsigned(out, "shared", launch->shared);
    write_place_number(out, launch->launched_at);
    in->launch = launch->number;
    sim_json_open(out, "blocks", '[');
    for (int i = 0; i < SIM_TRACE_BLOCKS; i++) {
        in->block = launch->blocks[i];
        if (in->block)
            write_block(out, in);
    }
    sim_json_close(out, ']');
    sim_json_close(out, '}');
}

// --- streams --------------------------------------------------------------------------------------------------------

static int find_operation(const sim_trace_operation *all, unsigned count, size_t chain, uint64_t sequence)
{
    for (unsigned i = 0; i < count; i++)
        if (all[i].chain == chain && all[i].sequence == sequence)
            return (int)i;
    return -1;
}

static void write_operation(sim_json *out, const sim_trace_operation *all, unsigned index)
{
    const sim_trace_operation *one = &all[index];
    sim_json_open(out, NULL, '{');
    sim_json_string(out, "kind", one->kind);
    sim_json_unsigned(out, "stream", one->stream);
    sim_json_unsigned(out, "submitted", one->submitted);
    sim_json_string(out, "call", one->function);
    if (one->number)
        sim_json_unsigned(out, "number", one->number);
    if (one->kernel)
        sim_json_string(out, "kernel", one->kernel);
    if (one->way)
        sim_json_string(out, "way", one->way);
    if (one->bytes)
        sim_json_unsigned(out, "bytes", one->bytes);
    write_place_number(out, one->pc);
    sim_json_open(out, "after", '[');
    for (unsigned i = 0; i < one->after_count; i++) {
        const int earlier = find_operation(all, index, one->after[i].chain, one->after[i].sequence);
        if (earlier >= 0)
            sim_json_unsigned(out, NULL, (uint64_t)earlier);
    }
    sim_json_close(out, ']');
    sim_json_close(out, '}');
}

static void write_operations(sim_json *out)
{
    const sim_trace_operation *operations;
    uint64_t left_out;
    const unsigned count = sim_trace_operations(&operations, &left_out);
    sim_json_open(out, "operations", '[');
    for (unsigned i = 0; i < count; i++)
        write_operation(out, operations, i);
    sim_json_close(out, ']');
    sim_json_unsigned(out, "operations_left_out", left_out);
}

// --- the document ---------------------------------------------------------------------------------------------------

static void write_limits(sim_json *out)
{
    sim_json_open(out, "limits", '{');
    sim_json_unsigned(out, "launches", SIM_TRACE_LAUNCHES);
    sim_json_unsigned(out, "blocks", SIM_TRACE_BLOCKS);
    sim_json_unsigned(out, "warps", SIM_TRACE_WARPS);
    sim_json_unsigned(out, "block_accesses", SIM_TRACE_BLOCK_ACCESSES);
    sim_json_unsigned(out, "accesses", SIM_TRACE_ACCESSES);
    sim_json_unsigned(out, "operations", SIM_TRACE_OPERATIONS);
    sim_json_close(out, '}');
}

void sim_trace_write(const char *path)
{
    sim_json *out = &(sim_json){0};
    grouped in = {.first = sim_arena_take(SIM_TRACE_EVENTS * sizeof *in.first),
                  .access = sim_arena_take(SIM_TRACE_BLOCK_ACCESSES * sizeof *in.access)};
    const sim_launch_trace *const *launches;
    uint64_t left_out;
    const unsigned count = sim_trace_launches(&launches, &left_out);
    buffers = sim_arena_take(sizeof *buffers);
    if (!buffers || !in.first || !in.access)
        return;
    sim_json_open(out, NULL, '{');
    sim_json_unsigned(out, "version", 1);
    sim_json_string(out, "gpu", sim_options_get()->gpu);
    write_limits(out);
    sim_json_open(out, "launches", '[');
    for (unsigned i = 0; i < count; i++)
        write_launch(out, launches[i], &in);
    sim_json_close(out, ']');
    sim_json_unsigned(out, "launches_left_out", left_out);
    write_operations(out);
    write_buffers(out);
    write_places(out);
    sim_json_close(out, '}');
    if (!out->failed)
        sim_document_save(out, path, "trace", "SIM_TRACE");
}
