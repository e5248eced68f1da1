// Timing. On a GPU the flush before each launch takes longer than queueing the launch behind it, so that the time
// between the two events around it holds no waiting for the host. On the CPU the host's clock does the same.

#include "bench/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "device/device.h"

enum {
    MOST_SAMPLES = 4096,
    BATCH = 64,          // launches queued before one wait
    FEWEST_SAMPLES = 11, // before a median may count as settled
    FEWEST_SLOW = 3,     // launches of a rung that takes long
    MOST_IN_A_ROW = 128, // launches back to back
    ROW_REPEATS = 3,     // their median counts
    LATE_ROWS = 3,       // in a row that end after their stream: once may be somebody else's doing
    COPY_REPEATS = 11,
};

static const double slow_launch = 0.2;      // seconds: such a rung gets the fewest launches
static const double settled_spread = 0.005; // of the median, relative
static const double warm_up_share = 0.1;    // of the budget
static const double row_seconds = 0.02;     // length of a row of launches
static const double late_share = 0.1;       // of a row's time: what the device may go on for when the stream is done
static const double late_seconds = 100e-6;  // and what waiting for an idle device may take

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
    heddle_event *start[BATCH], *end[BATCH];
    double *samples;
    double *sorted;
};

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
    timer->samples = calloc(MOST_SAMPLES, sizeof *timer->samples);
    timer->sorted = calloc(MOST_SAMPLES, sizeof *timer->sorted);
    heddle_status status = timer->samples && timer->sorted ? heddle_alloc(device, timer->flush_bytes, &timer->flush)
                                                           : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for samples");
    for (int i = 0; i < BATCH && status == HEDDLE_OK; i++) {
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
    for (int i = 0; i < BATCH; i++) {
        if (timer->start[i])
            heddle_event_destroy(timer->start[i]);
        if (timer->end[i])
            heddle_event_destroy(timer->end[i]);
    }
    heddle_free(timer->device, timer->flush);
    free(timer->samples);
    free(timer->sorted);
    free(timer);
}

// --- statistics ------------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts the samples into `sorted` and returns the one that `share` of them are below.
static double quantile(heddle_bench_timer *timer, int count, double share)
{
    memcpy(timer->sorted, timer->samples, (size_t)count * sizeof(double));
    qsort(timer->sorted, (size_t)count, sizeof(double), ascending);
    return timer->sorted[(int)(share * (count - 1) + 0.5)];
}

// How uncertain the median is, relative: from the middle half of the samples, which one slow launch does not widen.
static double median_spread(heddle_bench_timer *timer, int count)
{
    const double deviations_a_quartile_range = 1.349, median_to_mean = 1.2533; // of a normal distribution
    double median = quantile(timer, count, 0.5);
    double deviation = (quantile(timer, count, 0.75) - quantile(timer, count, 0.25)) / deviations_a_quartile_range;
    return median > 0 ? median_to_mean * deviation / sqrt(count) / median : 0;
}

// --- cold ------------------------------------------------------------------------------------------------------------

static heddle_status launch(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                            const heddle_call *call)
{
    if (!timer->on_host)
        return heddle_launch(op, rung, call);
    heddle_call now = *call;
    now.stream = NULL;
    now.pool = timer->pool;
    return heddle_launch(op, rung, &now);
}

static heddle_status sample_on_host(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                    const heddle_call *call, int count, double *samples)
{
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(heddle_fill(timer->stream, timer->flush, (uint8_t)i, timer->flush_bytes));
        HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
        double began = heddle_now();
        HEDDLE_TRY(launch(timer, op, rung, call));
        samples[i] = heddle_now() - began;
    }
    return HEDDLE_OK;
}

// `count` launches, each behind a flush; all are queued before the wait.
static heddle_status sample(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                            const heddle_call *call, int count, double *samples)
{
    const double a_millisecond = 1e-3;
    if (timer->on_host)
        return sample_on_host(timer, op, rung, call, count, samples);
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(heddle_fill(timer->stream, timer->flush, (uint8_t)i, timer->flush_bytes));
        HEDDLE_TRY(heddle_event_record(timer->start[i], timer->stream));
        HEDDLE_TRY(launch(timer, op, rung, call));
        HEDDLE_TRY(heddle_event_record(timer->end[i], timer->stream));
    }
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(heddle_event_elapsed(timer->start[i], timer->end[i], &samples[i]));
        samples[i] *= a_millisecond;
    }
    return HEDDLE_OK;
}

// Runs until `seconds` have passed, and says how long a launch with its flush takes.
static heddle_status warm_up(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                             const heddle_call *call, double seconds, double *each)
{
    double began = heddle_now();
    int launches = 0;
    HEDDLE_TRY(sample(timer, op, rung, call, 1, timer->samples)); // may load code: tells nothing
    double after_first = heddle_now();
    *each = after_first - began;
    while (heddle_now() - began < seconds) {
        int count = (int)fmin(BATCH, fmax(1, (seconds - (heddle_now() - began)) / *each));
        HEDDLE_TRY(sample(timer, op, rung, call, count, timer->samples));
        launches += count;
        *each = (heddle_now() - after_first) / launches;
    }
    return HEDDLE_OK;
}

static heddle_status time_cold(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                               const heddle_call *call, double budget, heddle_bench_timing *timing)
{
    double each;
    HEDDLE_TRY(warm_up(timer, op, rung, call, warm_up_share * budget, &each));
    double began = heddle_now();
    bool slow = each > slow_launch;
    int count = slow ? 1 : 0, fewest = slow ? FEWEST_SLOW : FEWEST_SAMPLES; // a slow one's warm-up counts
    while (count < MOST_SAMPLES - BATCH) {
        double left = budget - (heddle_now() - began);
        if (count >= fewest && left < each)
            break;
        int batch = (int)fmin(BATCH, fmax(left / each, 1)); // a batch must not outlast the budget by far
        if (count < fewest && batch > fewest)
            batch = fewest;
        HEDDLE_TRY(sample(timer, op, rung, call, batch, timer->samples + count));
        count += batch;
        timing->settled = count >= FEWEST_SAMPLES && median_spread(timer, count) < settled_spread;
        if (timing->settled && count >= fewest)
            break;
    }
    timing->launches = count;
    timing->seconds = quantile(timer, count, 0.5);
    timing->low = quantile(timer, count, 0.1);
    timing->high = quantile(timer, count, 0.9);
    return HEDDLE_OK;
}

// --- back to back ----------------------------------------------------------------------------------------------------

static heddle_status launch_row(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                const heddle_call *call, int count)
{
    for (int i = 0; i < count; i++)
        HEDDLE_TRY(launch(timer, op, rung, call));
    return HEDDLE_OK;
}

// NULL when the rung cannot be captured: it then runs as it is.
static heddle_graph *capture_row(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                 const heddle_call *call, int count)
{
    heddle_graph *graph = NULL;
    if (timer->on_host || heddle_capture_begin(timer->stream) != HEDDLE_OK)
        return NULL;
    heddle_status launched = launch_row(timer, op, rung, call, count);
    heddle_status ended = heddle_capture_end(timer->stream, &graph);
    if (launched == HEDDLE_OK && ended == HEDDLE_OK)
        return graph;
    if (graph)
        heddle_graph_destroy(graph);
    return NULL;
}

static heddle_status time_row(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                              const heddle_call *call, int count, heddle_graph *graph, double *seconds)
{
    double began = heddle_now(), milliseconds = 0;
    if (timer->on_host) {
        HEDDLE_TRY(launch_row(timer, op, rung, call, count));
        *seconds = (heddle_now() - began) / count;
        return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_event_record(timer->start[0], timer->stream));
    HEDDLE_TRY(graph ? heddle_graph_launch(graph, timer->stream) : launch_row(timer, op, rung, call, count));
    HEDDLE_TRY(heddle_event_record(timer->end[0], timer->stream));
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    HEDDLE_TRY(heddle_event_elapsed(timer->start[0], timer->end[0], &milliseconds));
    *seconds = milliseconds / 1e3 / count;
    return HEDDLE_OK;
}

static heddle_status time_back_to_back(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                       const heddle_call *call, heddle_bench_timing *timing)
{
    int count = (int)fmin(MOST_IN_A_ROW, fmax(1, row_seconds / timing->seconds));
    int repeats = timing->seconds > slow_launch ? 1 : ROW_REPEATS;
    heddle_graph *graph = capture_row(timer, op, rung, call, count);
    timing->captured = graph != NULL;
    heddle_status status = HEDDLE_OK;
    if (repeats > 1) // the first run of a graph uploads it
        status = time_row(timer, op, rung, call, count, graph, &timing->back_to_back);
    for (int i = 0; i < repeats && status == HEDDLE_OK; i++)
        status = time_row(timer, op, rung, call, count, graph, &timer->samples[i]);
    if (status == HEDDLE_OK)
        timing->back_to_back = quantile(timer, repeats, 0.5);
    if (graph)
        heddle_graph_destroy(graph);
    return status;
}

// --- what events do not see ------------------------------------------------------------------------------------------

// How long the device goes on after a row of launches is done as far as their stream knows.
static heddle_status time_late(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                               const heddle_call *call, int count, double *row, double *late)
{
    HEDDLE_TRY(heddle_device_synchronize(timer->device));
    double began = heddle_now();
    HEDDLE_TRY(launch_row(timer, op, rung, call, count));
    HEDDLE_TRY(heddle_stream_synchronize(timer->stream));
    double done = heddle_now();
    HEDDLE_TRY(heddle_device_synchronize(timer->device));
    *row = done - began;
    *late = heddle_now() - done;
    return HEDDLE_OK;
}

// Work that a rung puts on another stream than its call's is not between the events: its time would be a lie.
static heddle_status check_stream(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                  const heddle_call *call, double seconds)
{
    int count = (int)fmin(MOST_IN_A_ROW, fmax(1, row_seconds / seconds));
    double row = 0, late = 0;
    for (int i = 0; i < LATE_ROWS; i++) {
        HEDDLE_TRY(time_late(timer, op, rung, call, count, &row, &late));
        if (late <= late_seconds + late_share * row)
            return HEDDLE_OK;
    }
    return heddle_fail(HEDDLE_DEVICE,
                       "the device works on for %.0f µs after %d launches when their stream is done: "
                       "launch on the call's stream, or its time cannot be measured",
                       1e6 * late, count);
}

// And a cache that was told to keep lines is not cold.
static heddle_status check_cache(heddle_bench_timer *timer, size_t kept_before)
{
    size_t kept = 0;
    HEDDLE_TRY(heddle_device_kept_cache(timer->device, &kept));
    if (kept <= kept_before)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_DEVICE,
                       "it set %zu bytes of the second-level cache aside for lines that stay "
                       "(cudaLimitPersistingL2CacheSize): its time would not be one with a cold cache",
                       kept);
}

heddle_status heddle_bench_time(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                const heddle_call *call, double budget, heddle_bench_timing *timing)
{
    *timing = (heddle_bench_timing){0};
    size_t kept = 0;
    HEDDLE_TRY(heddle_device_reset_cache(timer->device));
    HEDDLE_TRY(heddle_device_kept_cache(timer->device, &kept));
    HEDDLE_TRY(time_cold(timer, op, rung, call, budget, timing));
    HEDDLE_TRY(time_back_to_back(timer, op, rung, call, timing));
    if (!timer->on_host)
        HEDDLE_TRY(check_stream(timer, op, rung, call, timing->back_to_back));
    return check_cache(timer, kept);
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
    double first;
    if (status == HEDDLE_OK)
        status = time_copy(timer, to, from, bytes, &first); // touches the pages
    for (int i = 0; i < COPY_REPEATS && status == HEDDLE_OK; i++)
        status = time_copy(timer, to, from, bytes, &timer->samples[i]);
    if (status == HEDDLE_OK)
        *bandwidth = 2 * (double)bytes / quantile(timer, COPY_REPEATS, 0.5); // read and written
    heddle_free(timer->device, from);
    heddle_free(timer->device, to);
    return status;
}
