// Runs what is queued, in the thread that waits for it, or where the program waits without a call.
#include "api/run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/call.h"
#include "api/graph.h"
#include "api/touch.h"
#include "machine/options.h"
#include "progress/beside.h"
#include "progress/host_waits.h"
#include "report/report.h"
#include "report/stopped.h"
#include "watch/trace.h"

static bool running; // a thread runs queues; it may have given up the lock for a host function
static pthread_cond_t ran = PTHREAD_COND_INITIALIZER;

static sim_operation *unmet(const sim_operation *operation)
{
    for (int i = 0; i < operation->after_count; i++) {
        if (!operation->after[i]->done)
            return operation->after[i];
    }
    return NULL;
}

// The operation that can run now and that `operation` needs, or that one itself. Each step goes to one submitted
// earlier.
static sim_operation *runnable_for(sim_operation *operation)
{
    for (;;) {
        operation = operation->stream->first;
        sim_operation *earlier = unmet(operation);
        if (earlier == NULL)
            return operation;
        operation = earlier;
    }
}

static const char *way_of(const sim_copy *copy)
{
    if (copy->from_host)
        return copy->to_host ? "host to host" : "host to device";
    return copy->to_host ? "device to host" : "device to device";
}

static sim_trace_operation described(const sim_operation *operation)
{
    const sim_work *work = &operation->work;
    sim_trace_operation told = {.function = work->function,
                                .pc = work->pc,
                                .submitted = work->submitted,
                                .stream = operation->stream->number,
                                .chain = operation->chain,
                                .sequence = operation->sequence};
    switch (work->kind) {
    case SIM_WORK_KERNEL:
        told.kind = "kernel";
        told.kernel = work->kernel.bound->kernel.name;
        break;
    case SIM_WORK_COPY:
        told.kind = "copy";
        told.bytes = work->copy.width * work->copy.height * work->copy.depth;
        told.way = way_of(&work->copy);
        break;
    case SIM_WORK_FILL:
        told.kind = "fill";
        told.bytes = work->fill.width * work->fill.height * work->fill.depth;
        break;
    case SIM_WORK_FREE: told.kind = "free"; break;
    case SIM_WORK_HOST:
    case SIM_WORK_CALLBACK: told.kind = "host function"; break;
    default: return told; // nothing that takes time
    }
    for (size_t chain = 0; chain < operation->clock.count && told.after_count < SIM_TRACE_AFTER; chain++) {
        const uint64_t before = operation->clock.at[chain] - (chain == operation->chain && told.sequence > 0);
        if (operation->clock.at[chain] == 0 || before == 0)
            continue;
        told.after[told.after_count].chain = chain;
        told.after[told.after_count++].sequence = before;
    }
    return told;
}

// Does nothing once the device is broken.
static void execute(sim_operation *operation)
{
    const sim_work_kind kind = operation->work.kind;
    const struct CUstream_st *stream = operation->stream;
    uint64_t number = SIM_NO_NUMBER;
    sim_trace_operation told = {0};
    if (sim_trace_wanted() && sim_error_broken() == cudaSuccess)
        told = described(operation);
    if (sim_error_broken() == cudaSuccess && sim_work_has_number(&operation->work)) {
        number = sim_order_start(operation->chain, operation->sequence, &operation->clock, operation->work.submitted);
        if (number == SIM_NO_NUMBER)
            sim_no_memory();
    }
    if (sim_error_broken() != cudaSuccess) {
        if (kind == SIM_WORK_KERNEL)
            sim_stopped_launch();
        else if (kind == SIM_WORK_COPY)
            sim_stopped_copy();
    } else {
        // A function of the host sees what was before it, and may tell any thread of the program that it is done.
        if (sim_work_is_host_function(kind)) {
            sim_host_waited(&operation->clock);
            sim_streams_host_function_runs(operation);
            sim_beside_host_function(true);
            sim_touch_function_begins();
        }
        if (kind == SIM_WORK_KERNEL)
            sim_touch_runs(operation);
        if (kind == SIM_WORK_CONDITION)
            sim_condition_run(operation);
        cudaStream_t handle = stream == sim_stream_legacy() ? NULL : operation->stream;
        const cudaError_t error = sim_work_run(&operation->work, number, handle);
        sim_streams_host_function_runs(NULL);
        sim_beside_host_function(false);
        if (sim_work_is_host_function(kind))
            sim_touch_function_ran(operation);
        if (kind == SIM_WORK_KERNEL)
            sim_touch_ran(operation, number, operation->work.kernel.bound->kernel.name, operation->work.pc);
        if (error != cudaSuccess) {
            sim_error_break(error);
            sim_stopped_at(operation->work.kernel.bound->kernel.name); // nothing but a kernel can fail
        }
    }
    told.number = number;
    if (told.kind)
        sim_trace_operation_ran(&told);
    sim_operation_done(operation);
}

static void begin_running(void)
{
    while (running)
        pthread_cond_wait(&ran, sim_api_mutex());
    running = true;
    sim_streams_runs_here(true);
}

static void end_running(void)
{
    running = false;
    sim_streams_runs_here(false);
    if (sim_streams_empty())
        sim_order_idle();
    pthread_cond_broadcast(&ran);
}

cudaError_t sim_run_until(sim_operation *operation)
{
    sim_operation_retain(operation);
    begin_running();
    while (!operation->done)
        execute(runnable_for(operation));
    end_running();
    sim_operation_release(operation);
    return sim_error_broken();
}

bool sim_stream_step(struct CUstream_st *stream)
{
    begin_running();
    const bool any = stream->first != NULL;
    if (any)
        execute(runnable_for(stream->first));
    end_running();
    return any;
}

cudaError_t sim_wait_until(sim_operation *operation, const sim_order_clock *clock)
{
    if (operation != NULL)
        sim_run_until(operation);
    sim_host_waited(clock);
    if (sim_streams_empty())
        sim_order_idle();
    return sim_error_broken();
}

cudaError_t sim_stream_wait(struct CUstream_st *stream)
{
    if (stream == sim_stream_legacy()) { // the host waits for what the legacy stream would wait for
        sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
        sim_stream_push(stream, &nothing);
    }
    return sim_wait_until(stream->last, &stream->clock);
}

// The next stream to run something of: in the order of submission, or, in schedules with odd numbers, the newest first.
static sim_operation *next_operation(void)
{
    sim_operation *chosen = NULL;
    for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next) {
        sim_operation *candidate = stream->first;
        if (candidate == NULL)
            continue;
        const bool earlier = chosen == NULL || candidate->work.submitted < chosen->work.submitted;
        if (chosen == NULL || earlier == (sim_schedule % 2 == 0))
            chosen = candidate;
    }
    return chosen;
}

cudaError_t sim_device_wait(void)
{
    begin_running();
    for (sim_operation *next = next_operation(); next != NULL; next = next_operation())
        execute(runnable_for(next));
    for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next)
        sim_host_waited(&stream->clock);
    end_running();
    return sim_error_broken();
}

// --- for a host that waits without a call ---------------------------------------------------------------------------

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

static unsigned long long queued_kernels(void)
{
    unsigned long long count = 0;
    for (const struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next)
        for (const sim_operation *operation = stream->first; operation != NULL; operation = operation->next)
            count += operation->work.kind == SIM_WORK_KERNEL;
    return count;
}

// Before the program's own objects are destroyed: queued work may use them.
static void run_rest(void)
{
    if (sim_api_is_copy())
        return;
    // What a stream runs ends the program: the stream cannot go on before it returns. Or a handler does, which may have
    // interrupted a call of CUDA.
    if (sim_streams_run_here() || sim_report_in_handler()) {
        sim_stopped_left(queued_kernels());
        return;
    }
    sim_api_lock();
    sim_device_wait();
    sim_api_unlock();
}

void sim_run_queued_later(void)
{
    static bool asked; // the lock is held
    if (asked)
        return;
    asked = true;
    atexit(run_rest);
    sim_report_at_end(SIM_END_RUN, run_rest);
    sim_beside_watch_over(any_queued, run_all);
}

// A kernel has failed: what was found would not be told if the host polled on.
static void end_polling(void)
{
    if (!sim_host_waits_in_vain())
        return;
    fprintf(stderr, "sim: the host polls for what a kernel that has failed can no longer do: stopping the program\n");
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
