// Which reads found what their own launch has written, and which of them are __ldg.

#define _GNU_SOURCE 1
#include "race/read_only.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/lines.h"
#include "race/clock.h"
#include "race/site.h"

typedef struct late_read {
    sim_finding finding;
    struct late_read *next;
} late_read;

static late_read *reads;
static bool looked[SIM_SITES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void describe(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address,
                     sim_finding *finding)
{
    *finding = sim_finding_of(view->worker, SIM_RACE, SIM_WARNING);
    finding->order = SIM_ORDER_BARRIER;
    finding->address = address;
    finding->bytes = sim_sites[view->site].bytes;
    snprintf(finding->message, sizeof finding->message,
             "read by __ldg of memory that the same kernel has written: it may return a stale value");
    finding->place[0] = sim_place_of(view->worker, thread, sim_sites[view->site].pc, "read");
    finding->place[1] = sim_race_place(earlier);
}

void sim_read_only_read(const sim_view *view, int thread, uint64_t write, uintptr_t address)
{
    if (__atomic_load_n(&looked[view->site], __ATOMIC_RELAXED))
        return;
    const sim_earlier earlier = {sim_stamp_of(write), sim_thread_of(write), sim_site_of(write), SIM_WRITE, false, 0};
    bool itself = earlier.thread == (unsigned)thread && sim_clock_block_of(earlier.stamp) == view->clock->serial;
    if (view->site == 0 || itself || __atomic_exchange_n(&looked[view->site], true, __ATOMIC_RELAXED))
        return;
    late_read *one = calloc(1, sizeof *one);
    if (!one)
        return;
    describe(view, thread, &earlier, address, &one->finding);
    pthread_mutex_lock(&lock);
    one->next = reads;
    reads = one;
    pthread_mutex_unlock(&lock);
}

// By the name of the function that was inlined there, or, where that is not known, by the line of our header.
static bool is_read_only_load(uintptr_t pc)
{
    static const char name[] = "__ldg";
    const sim_stack *stack = sim_lines_of(pc);
    const sim_frame *load = stack ? stack->within : NULL;
    size_t length = 0;
    const char *line = load ? sim_source_line(load->file, load->line, &length) : NULL;
    return load &&
           (strncmp(load->function, name, strlen(name)) == 0 || (line && memmem(line, length, name, strlen(name))));
}

void sim_read_only_report(void)
{
    pthread_mutex_lock(&lock);
    for (late_read *one = reads; one; one = one->next)
        for (int place = 0; place < SIM_PLACES; place++)
            sim_lines_want(one->finding.place[place].pc);
    if (reads)
        sim_lines_resolve();
    for (late_read *one = reads; one; one = one->next)
        if (is_read_only_load(one->finding.place[0].pc))
            sim_report(&one->finding);
    reads = NULL; // not freed: the program may have crashed in the middle of malloc
    pthread_mutex_unlock(&lock);
}
