// What is queued runs because the host waits without a call: when, progress/ decides.
#include "api/run_queued.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/call.h"
#include "api/stream.h"
#include "progress/beside.h"
#include "progress/host_waits.h"
#include "report/report.h"

static void run_all(void)
{
    sim_api_lock();
    while (!sim_streams_empty()) {
        for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next) {
            while (sim_stream_step(stream))
                continue;
        }
    }
    sim_api_unlock();
}

static bool any_queued(void)
{
    return !sim_streams_empty();
}

void sim_run_queued_later(void)
{
    sim_beside_watch_over(any_queued, run_all);
}

// A kernel has failed: what was found would not be told if the host polled on.
static void end_polling(void)
{
    if (!sim_host_waits_in_vain())
        return;
    fprintf(stderr, "sim: the host polls for what a kernel that has failed can no longer do: the program is ended\n");
    sim_report_write("stopped: the host polls for what a kernel that has failed can no longer do");
    _Exit(EXIT_FAILURE);
}

// Not in the middle of a call of this thread, which still has the lock then.
void sim_run_queued_now(void)
{
    if (pthread_mutex_trylock(sim_api_mutex()) != 0)
        return;
    const bool broken = sim_error_broken() != cudaSuccess, empty = sim_streams_empty();
    pthread_mutex_unlock(sim_api_mutex());
    if (!empty)
        sim_beside_run(run_all);
    else if (broken)
        end_polling();
}

void sim_run_queued_if_polled(uintptr_t address, bool write)
{
    if (sim_streams_run_here())
        return;
    if (sim_beside_under_way())
        sim_host_waits_beside(address, !write);
    else if ((sim_streams_host_functions() > 0 || sim_error_broken() != cudaSuccess) &&
             sim_host_waits_for(address, write))
        sim_run_queued_now();
}
