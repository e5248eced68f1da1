// The queues of streams: what is in them, and what it must come after. Running it is run.c's, the API's functions for
// streams are in stream_calls.c, capture into graphs is in capture.c.
#include "api/stream.h"

#include <stdlib.h>

#include "api/call.h"

static struct CUstream_st legacy = {.live = true, .chain = SIM_NO_CHAIN};
struct CUstream_st *sim_streams = &legacy;
static uint64_t submitted;
static size_t queued;         // operations that have not run
static size_t host_functions; // of them
static __thread bool running_here;
static __thread const sim_operation *host_function; // that this thread runs now

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

void sim_streams_runs_here(bool runs)
{
    running_here = runs;
}

void sim_streams_host_function_runs(const sim_operation *operation)
{
    host_function = operation;
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

// --- submitting -----------------------------------------------------------------------------------------------------

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

static void count(const sim_operation *operation, int change)
{
    queued += (size_t)change;
    if (sim_work_is_host_function(operation->work.kind))
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
    return operation;
}

sim_operation *sim_stream_push(struct CUstream_st *stream, sim_work *work)
{
    if (stream->chain == SIM_NO_CHAIN)
        stream->chain = sim_chain_new(); // of the legacy stream, which nobody made
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

sim_operation *sim_stream_insert(sim_operation *behind, sim_work *work, size_t chain, const sim_order_clock *clock)
{
    sim_operation *operation = calloc(1, sizeof *operation);
    if (operation == NULL) {
        sim_work_release(work);
        sim_no_memory();
        return NULL;
    }
    struct CUstream_st *stream = behind->stream;
    *operation =
        (sim_operation){.work = *work, .stream = stream, .next = behind->next, .references = 1, .chain = chain};
    operation->work.submitted = behind->work.submitted;
    operation->work.thread = behind->work.thread;
    behind->next = operation;
    if (stream->last == behind)
        stream->last = operation;
    sim_order_join(&operation->clock, clock);
    if (sim_work_has_number(work))
        operation->sequence = sim_chain_advance(chain, &operation->clock);
    count(operation, 1);
    return operation;
}

void sim_stream_await(struct CUstream_st *stream, sim_operation *operation, const sim_order_clock *clock)
{
    sim_order_join(&stream->clock, clock);
    sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
    sim_operation_after(sim_stream_push(stream, &nothing), operation);
}

void sim_operation_done(sim_operation *operation)
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
