// Timing of launches. On a GPU the flush before each launch takes longer than queueing the launch behind it, so that
// the time between the two events around it holds no waiting for the host. On the CPU the host's clock does the same.

#include "bench/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "bench/statistics.h"
#include "device/device.h"

enum {
    MOST_IN_A_ROW = 128, // launches back to back
    LATE_ROWS = 3,       // in a row that end after their stream: once may be somebody else's doing
    COPY_REPEATS = 11,
    COPY_REPEATS_CPU = 5,
};

const double heddle_bench_slow_launch = 0.2;
static const double row_seconds = 0.02;      // length of a row of launches
static const double late_row_seconds = 5e-3; // of one that is watched for work after its end
static const double late_share = 0.1;        // of a row's time: what the device may go on for when the stream is done
static const double late_seconds = 100e-6;   // and what waiting for an idle device may take

static const size_t least_flush_cuda = (size_t)256 << 20;
static const size_t least_flush_cpu = (size_t)128 << 20; // where the size of the cache is not known
static const size_t copy_bytes_cuda = (size_t)1 << 30;
static const size_t copy_bytes_cpu = (size_t)256 << 20;

struct heddle_bench_timer {
    heddle_device *device;
    heddle_stream *stream;
    heddle_pool *pool; // of the cpu device: launches run in the calling thread, and the host's clock counts
    bool on_host;
    void *flush;
    size_t flush_bytes;
    size_t kept; // bytes of the cache that are set aside whatever we do
    heddle_event *start[HEDDLE_BENCH_BATCH], *end[HEDDLE_BENCH_BATCH];
};

// Takes memory out of all caches, line by line. False: this processor cannot, or not from a program.
static bool evict(const void *memory, size_t bytes)
{
#if defined(__x86_64__) || defined(__aarch64__)
    enum { LINE = 64 }; // at most as long as the processor's own
    const char *at = (const char *)memory - (uintptr_t)memory % LINE, *end = (const char *)memory + bytes;
    for (; at < end; at += LINE) {
#if defined(__x86_64__)
        __builtin_ia32_clflush(at);
#else
        __asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
#endif
    }
#if defined(__aarch64__)
    __asm__ volatile("dsb ish" ::: "memory"); // waits until the lines are written back
#else
    __sync_synchronize();
#endif
    return true;
#else
    (void)memory, (void)bytes;
    return false;
#endif
}

heddle_status heddle_bench_timer_create(heddle_device *device, heddle_stream *stream, heddle_bench_timer **made)
{
    *made = NULL;
    heddle_device_info info = {0};
    HEDDLE_TRY(heddle_device_describe(device, &info));
    heddle_bench_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a timer");
    timer->device = device;
    timer->stream = stream;
    timer->on_host = info.kind == HEDDLE_CPU;
    timer->pool = heddle_device_pool(device);
    timer->flush_bytes = info.cache ? 2 * info.cache : least_flush_cpu;
    if (!timer->on_host && timer->flush_bytes < least_flush_cuda)
        timer->flush_bytes = least_flush_cuda;
    heddle_status status = HEDDLE_OK;
    if (!timer->on_host || !evict(timer, sizeof *timer))
        status = heddle_alloc(device, timer->flush_bytes, &timer->flush);
    for (int i = 0; i < HEDDLE_BENCH_BATCH && status == HEDDLE_OK; i++) {
        status = heddle_event_create(device, &timer->start[i]);
        if (status == HEDDLE_OK)
            status = heddle_event_create(device, &timer->end[i]);
    }
    if (status != HEDDLE_OK) {
        heddle_bench_timer_destroy(timer);
        return status;
    }
    *made = timer;
    return HEDDLE_OK;
}

void heddle_bench_timer_destroy(heddle_bench_timer *timer)
{
    if (!timer)
        return;
    for (int i = 0; i < HEDDLE_BENCH_BATCH; i++) {
        if (timer->start[i])
            heddle_event_destroy(timer->start[i]);
        if (timer->end[i])
            heddle_event_destroy(timer->end[i]);
    }
    heddle_free(timer->device, timer->flush);
    free(timer);
}

bool heddle_bench_timer_is_lost(const heddle_bench_timer *timer)
{
    return timer && !timer->on_host && heddle_device_synchronize(timer->device) != HEDDLE_OK;
}

// --- cold ------------------------------------------------------------------------------------------------------------

static heddle_status launch(heddle_bench_timer *timer, const heddle_values_work *work)
{
    if (!timer->on_host)
        return heddle_launch(work->op, work->rung, &work->call);
    heddle_call now = work->call;
    now.stream = NULL;
    now.pool = timer->pool;
    return heddle_launch(work->op, work->rung, &now);
}

// Line by line, because writing twice what the caches hold takes a second where a virtual machine sees those of a whole
// server.
static heddle_status flush_on_host(heddle_bench_timer *timer, const heddle_values_work *work, int turn)
{
    const heddle_call *call = &work->call;
    if (timer->flush) {
        HEDDLE_TRY(heddle_fill(timer->stream, timer->flush, (uint8_t)turn, timer->flush_bytes));
        return heddle_stream_synchronize(timer->stream);
    }
    for (int i = 0; i < work->op->operand_count; i++) {
        int slot;
        const void *memory = heddle_operand_slot(work->op, i, &slot) ? call->output[slot] : call->input[slot];
        if (memory)
            evict(memory, heddle_operand_bytes(work->op, i, call->shape));
    }
    if (call->workspace && work->rung->workspace)
        evict(call->workspace, work->rung->workspace(call->shape, heddle_pool_threads(timer->pool)));
    return HEDDLE_OK;
}

static heddle_status sample_on_host(heddle_bench_timer *timer, const heddle_values_work *work, int count,
                                    double *samples)
{
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(flush_on_host(timer, work, i));
        double began = heddle_now();
        HEDDLE_TRY(launch(timer, work));
        samples[i] = heddle_now() - began;
    }
    return HEDDLE_OK;
}

// All launches are queued before the wait.
heddle_status heddle_bench_time_cold(heddle_bench_timer *timer, const heddle_values_work *work, int count,
                                     double *samples)
{
    const double a_millisecond = 1e-3;
    if (timer->on_host)
        return sample_on_host(timer, work, count, samples);
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(heddle_fill(timer->stream, timer->flush, (uint8_t)i, timer->flush_bytes));
        HEDDLE_TRY(heddle_event_record(timer->start[i], timer->stream));
        HEDDLE_TRY(launch(timer, work));
        HEDDLE_TRY(heddle_event_record(timer->end[i], timer->stream));
    }
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(heddle_event_elapsed(timer->start[i], timer->end[i], &samples[i]));
        samples[i] *= a_millisecond;
    }
    return HEDDLE_OK;
}

heddle_status heddle_bench_warm_up(heddle_bench_timer *timer, const heddle_values_work *work, double seconds,
                                   double *with_flush, double *alone)
{
    double began = heddle_now(), samples[HEDDLE_BENCH_BATCH];
    int launches = 0, count = 1;
    HEDDLE_TRY(heddle_bench_time_cold(timer, work, count, samples)); // may load code: tells little
    double after_first = heddle_now();
    *with_flush = after_first - began;
    while (heddle_now() - began < seconds) {
        count = (int)fmin(HEDDLE_BENCH_BATCH, fmax(1, (seconds - (heddle_now() - began)) / *with_flush));
        HEDDLE_TRY(heddle_bench_time_cold(timer, work, count, samples));
        launches += count;
        *with_flush = (heddle_now() - after_first) / launches;
    }
    *alone = samples[count - 1];
    return HEDDLE_OK;
}

// --- back to back ----------------------------------------------------------------------------------------------------

static int launches_in(double row, double seconds)
{
    return (int)fmin(MOST_IN_A_ROW, fmax(1, row / seconds));
}

int heddle_bench_row_length(double seconds)
{
    return launches_in(row_seconds, seconds);
}

static heddle_status launch_row(heddle_bench_timer *timer, const heddle_values_work *work, int count)
{
    for (int i = 0; i < count; i++)
        HEDDLE_TRY(launch(timer, work));
    return HEDDLE_OK;
}

heddle_graph *heddle_bench_capture_row(heddle_bench_timer *timer, const heddle_values_work *work, int count)
{
    heddle_graph *graph = NULL;
    if (timer->on_host || heddle_capture_begin(timer->stream) != HEDDLE_OK)
        return NULL;
    heddle_status launched = launch_row(timer, work, count);
    heddle_status ended = heddle_capture_end(timer->stream, &graph);
    if (launched == HEDDLE_OK && ended == HEDDLE_OK)
        return graph;
    if (graph)
        heddle_graph_destroy(graph);
    return NULL;
}

heddle_status heddle_bench_time_row(heddle_bench_timer *timer, const heddle_values_work *work, int count,
                                    heddle_graph *graph, double *seconds)
{
    double began = heddle_now(), milliseconds = 0;
    if (timer->on_host) {
        HEDDLE_TRY(launch_row(timer, work, count));
        *seconds = (heddle_now() - began) / count;
        return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_event_record(timer->start[0], timer->stream));
    HEDDLE_TRY(graph ? heddle_graph_launch(graph, timer->stream) : launch_row(timer, work, count));
    HEDDLE_TRY(heddle_event_record(timer->end[0], timer->stream));
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    HEDDLE_TRY(heddle_event_elapsed(timer->start[0], timer->end[0], &milliseconds));
    *seconds = milliseconds / 1e3 / count;
    return HEDDLE_OK;
}

// --- what events do not see ------------------------------------------------------------------------------------------

// How long the device goes on after a row of launches is done as far as their stream knows.
static heddle_status time_late(heddle_bench_timer *timer, const heddle_values_work *work, int count, double *row,
                               double *late)
{
    HEDDLE_TRY(heddle_device_synchronize(timer->device));
    double began = heddle_now();
    HEDDLE_TRY(launch_row(timer, work, count));
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    double done = heddle_now();
    HEDDLE_TRY(heddle_device_synchronize(timer->device));
    *row = done - began;
    *late = heddle_now() - done;
    return HEDDLE_OK;
}

heddle_status heddle_bench_check_stream(heddle_bench_timer *timer, const heddle_values_work *work, double seconds)
{
    int count = launches_in(late_row_seconds, seconds);
    double row = 0, late = 0;
    if (timer->on_host)
        return HEDDLE_OK;
    for (int i = 0; i < LATE_ROWS; i++) {
        HEDDLE_TRY(time_late(timer, work, count, &row, &late));
        if (late <= late_seconds + late_share * row)
            return HEDDLE_OK;
    }
    return heddle_fail(HEDDLE_DEVICE,
                       "the device is busy for %.0f µs after the stream of %d launches is done: "
                       "launch on the call's stream, or its time cannot be measured",
                       1e6 * late, count);
}

heddle_status heddle_bench_timer_reset(heddle_bench_timer *timer)
{
    HEDDLE_TRY(heddle_device_reset_cache(timer->device));
    return heddle_device_kept_cache(timer->device, &timer->kept);
}

heddle_status heddle_bench_check_cache(heddle_bench_timer *timer)
{
    size_t kept = 0;
    HEDDLE_TRY(heddle_device_kept_cache(timer->device, &kept));
    if (kept <= timer->kept)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_device_reset_cache(timer->device)); // the next rung finds it as this one did
    return heddle_fail(HEDDLE_DEVICE,
                       "it set %zu bytes of the L2 cache aside for persisting lines "
                       "(cudaLimitPersistingL2CacheSize): its time would not be one with a cold cache",
                       kept);
}

// --- bandwidth -------------------------------------------------------------------------------------------------------

typedef struct host_copy {
    char *to;
    const char *from;
    size_t bytes;
} host_copy;

enum { HOST_PIECES = 256 };

static void copy_piece(void *context, int index, int worker)
{
    (void)worker;
    const host_copy *job = context;
    size_t piece = job->bytes / HOST_PIECES;
    memcpy(job->to + (size_t)index * piece, job->from + (size_t)index * piece, piece);
}

static heddle_status time_copy(heddle_bench_timer *timer, void *to, const void *from, size_t bytes, double *seconds)
{
    double began = heddle_now(), milliseconds = 0;
    if (timer->on_host) {
        host_copy job = {to, from, bytes}; // by all threads, as rungs run
        heddle_pool_run(timer->pool, HOST_PIECES, copy_piece, &job);
        *seconds = heddle_now() - began;
        return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_event_record(timer->start[0], timer->stream));
    HEDDLE_TRY(heddle_copy(timer->stream, to, from, bytes));
    HEDDLE_TRY(heddle_event_record(timer->end[0], timer->stream));
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    HEDDLE_TRY(heddle_event_elapsed(timer->start[0], timer->end[0], &milliseconds));
    *seconds = milliseconds / 1e3;
    return HEDDLE_OK;
}

heddle_status heddle_bench_copy_bandwidth(heddle_bench_timer *timer, double *bandwidth)
{
    heddle_device_info info = {0};
    HEDDLE_TRY(heddle_device_describe(timer->device, &info));
    size_t bytes = timer->on_host ? copy_bytes_cpu : copy_bytes_cuda;
    while (bytes > info.memory_free / 4) // a small card
        bytes /= 2;
    if (bytes == 0)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory is free on the device");
    void *from = NULL, *to = NULL;
    heddle_status status = heddle_alloc(timer->device, bytes, &from);
    if (status == HEDDLE_OK)
        status = heddle_alloc(timer->device, bytes, &to);
    if (status == HEDDLE_OK)
        status = heddle_fill(timer->stream, from, 1, bytes);
    if (status == HEDDLE_OK)
        status = heddle_stream_synchronize(timer->stream);
    const int repeats = timer->on_host ? COPY_REPEATS_CPU : COPY_REPEATS;
    double first, times[COPY_REPEATS];
    if (status == HEDDLE_OK)
        status = time_copy(timer, to, from, bytes, &first); // touches the pages
    for (int i = 0; i < repeats && status == HEDDLE_OK; i++)
        status = time_copy(timer, to, from, bytes, &times[i]);
    if (status == HEDDLE_OK)
        *bandwidth = 2 * (double)bytes / heddle_bench_median(times, repeats); // read and written
    heddle_free(timer->device, from);
    heddle_free(timer->device, to);
    return status;
}
