// Plain accesses behind an atomic that no fence follows: one finding for each atomic.

#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/lines.h"
#include "race/unfenced.h"

// One for each pair of places, until the program ends.
typedef struct unfenced_read {
    unsigned site[2]; // the atomic, the access behind it
    sim_finding finding;
    uint64_t count;
    bool told, far; // far: another block has written some of it
    struct unfenced_read *next;
} unfenced_read;

static unfenced_read *reads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void (*observer)(uintptr_t address, size_t bytes, void *context);
static void *observer_context;

void sim_unfenced_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context)
{
    observer = callback;
    observer_context = context;
}

static unfenced_read *find_or_make(unsigned seen_at, const sim_view *view)
{
    unfenced_read *one = reads;
    while (one && (one->site[0] != seen_at || one->site[1] != view->site ||
                   strcmp(one->finding.kernel, view->worker->launch->kernel->name) != 0))
        one = one->next;
    if (!one && (one = calloc(1, sizeof *one))) {
        one->site[0] = seen_at;
        one->site[1] = view->site;
        one->next = reads;
        reads = one;
    }
    return one;
}

static void describe(const sim_view *view, int thread, bool same_block, uintptr_t address, sim_finding *finding)
{
    const sim_unfenced *unfenced = &view->clock->unfenced[thread];
    bool atomic = sim_sites[unfenced->site].kind == SIM_ATOMIC;
    const char *look = atomic ? "atomic" : "volatile read", *role = sim_role(view->kind);
    *finding = sim_finding_of(view->worker, SIM_RACE, SIM_WARNING);
    finding->address = address;
    finding->bytes = sim_sites[view->site].bytes;
    snprintf(finding->message, sizeof finding->message,
             "%s of %s memory that another %s has written, after %s %s %s between the two", role,
             view->shared ? "shared" : "global", same_block ? "thread of the block" : "block", atomic ? "an" : "a",
             look, unfenced->narrowly ? "with too narrow a fence" : "without a fence");
    snprintf(finding->note, sizeof finding->note, "%s",
             unfenced->narrowly ? "the fence has block scope and does not reach the block that wrote"
             : view->kind == SIM_READ
                 ? "the writer's fence orders its own side only: the read may still return a stale value"
                 : "the writer's fence orders its own side only: its value may still replace this one");
    finding->place[0] = sim_place_of(view->worker, unfenced->thread, sim_sites[unfenced->site].pc, look);
    finding->place[1] = sim_place_of(view->worker, thread, sim_sites[view->site].pc, role);
}

void sim_unfenced_check(const sim_view *view, int thread, const sim_earlier *earlier, unsigned at, uintptr_t address)
{
    const sim_unfenced *unfenced = &view->clock->unfenced[thread];
    if (sim_clock_ordered_by(view->clock, thread, earlier->stamp, earlier->thread, at, view->shared, unfenced->firm))
        return;
    if (observer)
        observer(address, sim_sites[view->site].bytes, observer_context);
    bool same_block = view->shared || sim_clock_block_of(earlier->stamp) == view->clock->serial;
    pthread_mutex_lock(&lock);
    unfenced_read *one = find_or_make(unfenced->site, view);
    if (one && one->count++ == 0)
        describe(view, thread, same_block, address, &one->finding);
    if (one)
        one->far |= !same_block;
    pthread_mutex_unlock(&lock);
}

static const sim_frame *frame_of(const unfenced_read *one, int place)
{
    const sim_stack *stack = sim_lines_of(one->finding.place[place].pc);
    return stack ? &stack->frames[0] : NULL;
}

static const sim_frame *within_of(const unfenced_read *one, int place)
{
    const sim_stack *stack = sim_lines_of(one->finding.place[place].pc);
    return stack ? stack->within : NULL;
}

// A load that asks past the cache of its multiprocessor finds no older value there. Where addr2line does not know the
// function's name, the line of our header that makes it has it.
static bool passes_cache(const unfenced_read *one)
{
    static const char *const loads[] = {"__ldcg", "__ldcv"};
    const sim_frame *load = within_of(one, 1);
    size_t length = 0;
    const char *line = load ? sim_source_line(load->file, load->line, &length) : NULL;
    for (size_t i = 0; load && i < sizeof loads / sizeof *loads; i++) {
        size_t bytes = strlen(loads[i]);
        if (strncmp(load->function, loads[i], bytes) == 0 || (line && memmem(line, length, loads[i], bytes)))
            return true;
    }
    return false;
}

// Arriving at a barrier, a latch or a pipeline's stage, or giving a semaphore back, is no look at it, although the
// stand-in's atomic reads; their waits acquire.
static bool only_arrives(const unfenced_read *one)
{
    const sim_frame *call = within_of(one, 0);
    return call && (strstr(call->file, "barrier") || strstr(call->file, "/latch") || strstr(call->file, "/pipeline") ||
                    strstr(call->file, "/semaphore"));
}

static bool same_atomic(const unfenced_read *a, const unfenced_read *b)
{
    const sim_frame *one = frame_of(a, 0), *other = frame_of(b, 0);
    return strcmp(a->finding.kernel, b->finding.kernel) == 0 &&
           (a->site[0] == b->site[0] ||
            (one && other && one->line && one->line == other->line && strcmp(one->file, other->file) == 0));
}

static bool comes_first(const unfenced_read *a, const unfenced_read *b)
{
    const sim_frame *one = frame_of(a, 1), *other = frame_of(b, 1);
    return one && other && strcmp(one->file, other->file) == 0 && one->line < other->line;
}

// One finding for each atomic: the fence behind it cures them all. It names the first of the reads.
static void report_with_others(unfenced_read *first)
{
    uint64_t count = 0;
    bool far = false;
    for (unfenced_read *one = first; one; one = one->next) {
        if (one->told || !same_atomic(one, first))
            continue;
        count += one->count;
        far |= one->far;
        one->told = true;
        if (comes_first(one, first))
            first->finding = one->finding;
    }
    first->finding.order = far ? SIM_ORDER_ACQUIRE : SIM_ORDER_ACQUIRE_IN_BLOCK;
    sim_report_many(&first->finding, count);
}

void sim_unfenced_report(void)
{
    pthread_mutex_lock(&lock);
    for (unfenced_read *one = reads; one; one = one->next)
        for (int place = 0; place < SIM_PLACES; place++)
            sim_lines_want(one->finding.place[place].pc);
    if (reads)
        sim_lines_resolve();
    for (unfenced_read *one = reads; one; one = one->next)
        one->told |= passes_cache(one) || only_arrives(one);
    for (unfenced_read *one = reads; one; one = one->next)
        if (!one->told)
            report_with_others(one);
    reads = NULL; // not freed: the program may have crashed in the middle of malloc
    pthread_mutex_unlock(&lock);
}
