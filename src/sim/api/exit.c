// What happens at the end: what is still queued runs, then leaks and errors that nobody looked at are reported.
#include <stdio.h>
#include <stdlib.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/event.h"
#include "api/exit.h"
#include "api/stream.h"
#include "api/variable.h"
#include "memory/memory.h"
#include "report/report.h"

static bool used; // the program called the API at all

// Before the program's own objects are destroyed: queued work may use them.
static void run_rest(void)
{
    if (sim_streams_run_here())
        return; // what a stream runs ends the program: the stream cannot go on before it returns
    sim_api_lock();
    sim_device_wait();
    sim_api_unlock();
}

void sim_exit_start(void)
{
    used = true;
    atexit(run_rest);
}

static void report_leak(const sim_allocation *allocation, void *context)
{
    (void)context;
    if (!allocation->live || allocation->kind == SIM_MEMORY_HEAP || sim_allocated_for_graph(allocation) ||
        allocation->free_refused) // one mistake, which has been told
        return;
    sim_finding finding = {.kind = SIM_LEAK,
                           .tier = SIM_WARNING,
                           .address = allocation->start,
                           .bytes = allocation->bytes,
                           .place[0] = {.pc = allocation->allocated_at, .role = "allocated"}};
    snprintf(finding.message, sizeof finding.message, "%zu byte%s from %s %s never freed", allocation->bytes,
             allocation->bytes == 1 ? "" : "s", allocation->function, allocation->bytes == 1 ? "is" : "are");
    sim_report(&finding);
}

static void report_leaks(void)
{
    // After a fault in a kernel the program cannot free anything any more.
    if (sim_error_broken() == cudaSuccess)
        sim_memory_each(report_leak, NULL);
}

static void finish(void)
{
    if (used)
        run_rest();
    sim_variables_finish();
    if (!used)
        return;
    sim_events_finish();
    report_leaks();
    sim_error_report_unread();
}

__attribute__((constructor(102))) static void start(void)
{
    sim_report_before_end(finish);
}
