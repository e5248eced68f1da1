// The queues of streams: what is submitted, what it must come after, and running it. The API's functions for streams
// are in stream_calls.c, capture into graphs in capture.c.
#include "api/stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/call.h"
#include "api/capture.h"
#include "api/run_queued.h"
#include "api/touch.h"
#include "machine/options.h"
#include "machine/worker.h"
#include "progress/beside.h"
#include "report/stopped.h"

struct CUstream_st *sim_streams;
static struct CUstream_st legacy = {.live = true};
static uint64_t submitted;
static size_t queued;         // operations that have not run
static size_t host_functions; // of them
static bool running;          // a thread runs queues; it may have given up the lock for a host function
static __thread bool running_here;
static __thread const sim_operation *host_function; // that this thread runs now
static pthread_cond_t ran = PTHREAD_COND_INITIALIZER;

void sim_streams_start(void)
{
    legacy.chain = sim_chain_new();
    sim_streams = &legacy;
}

struct CUstream_st *sim_stream_legacy(void)
{
    return &legacy;
}

bool sim_streams_empty(void)
{
    return queued == 0;
}

size_t sim_streams_host_functions(void)
{
    return __atomic_load_n(&host_functions, __ATOMIC_RELAXED);
}

bool sim_streams_run_here(void)
{
    return running_here;
}

sim_host_place sim_streams_host_place(void)
{
    if (host_function == NULL)
        return (sim_host_place){.chain = SIM_NO_CHAIN};
    const uint64_t before = sim_order_at(&host_function->clock, host_function->chain);
    return (sim_host_place){.chain = host_function->chain, .next = before + 1};
}

uint64_t sim_streams_submitted(void)
{
    return submitted;
}

// --- submitting
// --------------------------------------------------------------------------------------------------------

void sim_operation_retain(sim_operation *operation)
{
    operation->references++;
}

void sim_operation_release(sim_operation *operation)
{
    if (--operation->references > 0)
        return;
    sim_order_clear(&operation->clock);
    free(operation->after);
    free(operation);
}

void sim_operation_after(sim_operation *operation, sim_operation *earlier)
{
    if (operation == NULL || earlier == NULL || earlier->done || earlier->stream == operation->stream)
        return;
    sim_operation **larger = realloc(operation->after, (size_t)(operation->after_count + 1) * sizeof(sim_operation *));
    if (larger == NULL) {
        sim_no_memory();
        return;
    }
    operation->after = larger;
    operation->after[operation->after_count++] = earlier;
    sim_operation_retain(earlier);
}

static bool is_blocking(const struct CUstream_st *stream)
{
    return stream != &legacy && !(stream->flags & cudaStreamNonBlocking);
}

// The legacy default stream waits for every blocking stream, and they for it.
static void meet_legacy(struct CUstream_st *stream, sim_operation *operation)
{
    if (is_blocking(stream)) {
        sim_operation_after(operation, legacy.last);
        return;
    }
    for (struct CUstream_st *other = sim_streams; stream == &legacy && other != NULL; other = other->next) {
        if (is_blocking(other))
            sim_operation_after(operation, other->last);
    }
}

void sim_stream_meet(struct CUstream_st *stream)
{
    sim_order_join(&stream->clock, &sim_host_clock);
    if (is_blocking(stream))
        sim_order_join(&stream->clock, &legacy.clock);
    for (struct CUstream_st *other = sim_streams; stream == &legacy && other != NULL; other = other->next) {
        if (is_blocking(other))
            sim_order_join(&stream->clock, &other->clock);
    }
}

static bool is_host_function(sim_work_kind kind)
{
    return kind == SIM_WORK_HOST || kind == SIM_WORK_CALLBACK;
}

static void count(const sim_operation *operation, int change)
{
    queued += (size_t)change;
    if (is_host_function(operation->work.kind))
        __atomic_fetch_add(&host_functions, (size_t)change, __ATOMIC_RELAXED);
}

// NULL: no memory; the work is released.
static sim_operation *append(struct CUstream_st *stream, sim_work *work)
{
    sim_operation *operation = calloc(1, sizeof *operation);
    if (operation == NULL) {
        sim_work_release(work);
        sim_no_memory();
        return NULL;
    }
    operation->work = *work;
    operation->stream = stream;
    operation->work.submitted = ++submitted;
    operation->work.thread = sim_call_thread();
    operation->references = 1;
    meet_legacy(stream, operation);
    if (stream->last != NULL)
        stream->last->next = operation;
    else
        stream->first = operation;
    stream->last = operation;
    count(operation, 1);
    sim_run_queued_later();
    return operation;
}

sim_operation *sim_stream_push(struct CUstream_st *stream, sim_work *work)
{
    sim_stream_meet(stream);
    sim_operation *operation = append(stream, work);
    if (operation == NULL)
        return NULL;
    operation->chain = stream->chain;
    if (sim_work_has_number(work))
        operation->sequence = sim_chain_advance(stream->chain, &stream->clock);
    sim_order_join(&operation->clock, &stream->clock);
    return operation;
}

sim_operation *sim_stream_push_at(struct CUstream_st *stream, sim_work *work, size_t chain, sim_order_clock *clock)
{
    sim_operation *operation = append(stream, work);
    if (operation == NULL)
        return NULL;
    operation->chain = chain;
    if (sim_work_has_number(work))
        operation->sequence = sim_chain_advance(chain, clock);
    sim_order_join(&operation->clock, clock);
    return operation;
}

void sim_stream_await(struct CUstream_st *stream, sim_operation *operation, const sim_order_clock *clock)
{
    sim_order_join(&stream->clock, clock);
    sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
    sim_operation_after(sim_stream_push(stream, &nothing), operation);
}

cudaError_t sim_stream_submit(struct CUstream_st *stream, sim_work *work)
{
    if (stream->capture != NULL)
        return sim_capture_add(stream, work);
    if (stream == &legacy && sim_capture_global()) {
        sim_work_release(work);
        sim_capture_invalidate_all();
        return sim_fail(cudaErrorStreamCaptureImplicit,
                        "the legacy default stream waits for all blocking streams, one of which captures a graph; "
                        "make that stream with cudaStreamNonBlocking or use another stream here");
    }
    return sim_stream_push(stream, work) != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

// --- running
// -----------------------------------------------------------------------------------------------------------

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

static void finish(sim_operation *operation)
{
    struct CUstream_st *stream = operation->stream;
    stream->first = operation->next;
    if (stream->first == NULL)
        stream->last = NULL;
    if (stream->first == NULL && !stream->live && !stream->chain_ended) {
        sim_chain_end(stream->chain);
        stream->chain_ended = true;
    }
    operation->done = true;
    count(operation, -1);
    for (int i = 0; i < operation->after_count; i++)
        sim_operation_release(operation->after[i]);
    operation->after_count = 0;
    sim_work_release(&operation->work);
    sim_operation_release(operation);
}

// Does nothing once the device is broken.
static void execute(sim_operation *operation)
{
    const sim_work_kind kind = operation->work.kind;
    const struct CUstream_st *stream = operation->stream;
    uint64_t number = SIM_NO_NUMBER;
    if (sim_error_broken() == cudaSuccess && sim_work_has_number(&operation->work)) {
        number = sim_order_start(operation->chain, operation->sequence, &operation->clock);
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
        if (is_host_function(kind)) {
            sim_host_waited(&operation->clock);
            host_function = operation;
            sim_beside_host_function(true);
        }
        if (kind == SIM_WORK_KERNEL)
            sim_touch_runs(operation);
        cudaStream_t handle = stream == &legacy ? NULL : operation->stream;
        const cudaError_t error = sim_work_run(&operation->work, number, handle, stream->number);
        host_function = NULL;
        sim_beside_host_function(false);
        if (kind == SIM_WORK_KERNEL)
            sim_touch_ran(operation, number, operation->work.kernel.bound->kernel.name, operation->work.pc);
        if (error != cudaSuccess) {
            sim_error_break(error);
            sim_stopped_at(operation->work.kernel.bound->kernel.name); // nothing but a kernel can fail
        }
    }
    finish(operation);
}

static void begin_running(void)
{
    while (running)
        pthread_cond_wait(&ran, sim_api_mutex());
    running = running_here = true;
}

static void end_running(void)
{
    running = running_here = false;
    if (queued == 0)
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

cudaError_t sim_stream_wait(struct CUstream_st *stream)
{
    if (stream == &legacy) { // the host waits for what the legacy stream would wait for
        sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
        sim_stream_push(stream, &nothing);
    }
    if (stream->last != NULL)
        sim_run_until(stream->last);
    sim_host_waited(&stream->clock);
    if (queued == 0)
        sim_order_idle();
    return sim_error_broken();
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

void sim_operations_unwaited(bool (*visit)(const sim_work *work, void *context), void *context)
{
    const sim_host_place host = sim_streams_host_place();
    for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next) {
        for (sim_operation *operation = stream->first; operation != NULL; operation = operation->next) {
            if (host.chain != SIM_NO_CHAIN && sim_order_at(&operation->clock, host.chain) >= host.next)
                continue;
            if (sim_work_has_number(&operation->work) && !visit(&operation->work, context))
                return;
        }
    }
}
