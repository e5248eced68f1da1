// Findings for a person, on the terminal: used when a simulated program is run by itself. Facts with their lines; those
// who read the JSON explain them.
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/internal.h"

enum { MOST_SHOWN = 20 }; // the rest is a number

static void show_place(int to, const sim_place *place, const sim_stack *stack)
{
    char text[SIM_PLACE_BYTES];
    dprintf(to, "  %s", sim_frame_text(&stack->frames[0], text));
    if (stack->frames[0].file[0] && stack->frames[0].function[0])
        dprintf(to, " in %s", stack->frames[0].function);
    dprintf(to, "%s%s%s\n", place->role && place->role[0] ? ": " : "", place->role ? place->role : "",
            sim_thread_text(place, text));
    for (size_t i = 1; i < stack->count; i++)
        dprintf(to, "          called at %s in %s\n", sim_frame_text(&stack->frames[i], text),
                stack->frames[i].function);
}

// How far the access reaches: "4 bytes past its end" is the element right behind an array of floats.
static void show_offset(int to, const sim_described *memory)
{
    long long past = (long long)memory->offset + (long long)memory->size - (long long)memory->bytes;
    if (memory->offset < 0)
        dprintf(to, "; %lld bytes before it", -(long long)memory->offset);
    else if (past > 0)
        dprintf(to, "; %lld bytes past its end", past);
    else if (memory->offset > 0)
        dprintf(to, "; at byte %lld of it", (long long)memory->offset);
}

static void show_memory(int to, const sim_described *memory)
{
    if (!memory->bytes)
        return;
    dprintf(to, "  %s: %s, %zu bytes", memory->space,
            memory->name[0]   ? memory->name
            : memory->dynamic ? "extern __shared__"
                              : "an allocation",
            memory->bytes);
    const sim_stack *made = sim_lines_of(memory->allocated_at);
    const sim_stack *freed = sim_lines_of(memory->freed_at);
    char text[SIM_PLACE_BYTES];
    if (made)
        dprintf(to, ", %s at %s", memory->function ? memory->function : "allocated",
                sim_frame_text(&made->frames[0], text));
    if (freed && !memory->live)
        dprintf(to, ", freed at %s", sim_frame_text(&freed->frames[0], text));
    show_offset(to, memory);
    dprintf(to, "\n");
}

static void show_finding(int to, const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    dprintf(to, "\nsim: %s: %s", finding->tier == SIM_ERROR ? "error" : "warning", sim_kind_name(finding->kind));
    if (finding->kernel)
        dprintf(to, " in %s", finding->kernel);
    if (record->count > 1)
        dprintf(to, ", %llu times", (unsigned long long)record->count);
    dprintf(to, "\n");
    if (finding->message[0])
        dprintf(to, "  %s\n", finding->message);
    for (int i = 0; i < SIM_PLACES; i++)
        if (record->where[i])
            show_place(to, &finding->place[i], record->where[i]);
    if (record->memory.space)
        show_memory(to, &record->memory);
    if (finding->note[0])
        dprintf(to, "  %s\n", finding->note);
}

void sim_text_write(const sim_conclusion *conclusion, const char *status, int descriptor)
{
    size_t shown = conclusion->count < MOST_SHOWN ? conclusion->count : MOST_SHOWN;
    for (size_t i = 0; i < shown; i++)
        show_finding(descriptor, conclusion->findings[i]);
    if (strcmp(status, "finished") != 0)
        dprintf(descriptor, "\nsim: %s\n", status);
    sim_place crash;
    const sim_stack *crashed = sim_crash_place(&crash);
    if (crashed)
        show_place(descriptor, &crash, crashed);
    char unchecked[SIM_UNCHECKED_BYTES];
    if (sim_unchecked_text(status, unchecked, sizeof unchecked))
        dprintf(descriptor, "\nsim: note: %s\n", unchecked);
    if (conclusion->count == 0)
        return;
    dprintf(descriptor, "\nsim: %zu error%s, %zu warning%s", conclusion->errors, conclusion->errors == 1 ? "" : "s",
            conclusion->warnings, conclusion->warnings == 1 ? "" : "s");
    if (shown < conclusion->count)
        dprintf(descriptor, "; %zu not shown", conclusion->count - shown);
    dprintf(descriptor, "\n");
}
