// One way to run the pipeline: batch b goes through its three stages on stream b % streams. Events around each stage
// are the timeline, and where asked for they keep the batches in order too. Batches are queued in one loop, or each by
// the host thread that a callback has told of the one before.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "bench/pipeline_parts.h"
#include "bench/statistics.h"

typedef struct running running;

// What a callback is given: it only tells, for it must not call into its device.
typedef struct finished {
    running *run;
    int stream;
} finished;

struct running {
    heddle_pipeline *pipeline;
    const heddle_pipeline_way *way;
    const heddle_pipeline_host *host;
    int work;
    heddle_stream *streams[HEDDLE_PIPELINE_MOST_STREAMS], *default_stream, *teller;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    finished contexts[HEDDLE_PIPELINE_MOST_STREAMS];
    int done[HEDDLE_PIPELINE_MOST_STREAMS]; // batches that callbacks have told of, by stream
};

// --- streams --------------------------------------------------------------------------------------------------------

static heddle_status open_streams(running *run)
{
    const heddle_device_info *info = &run->pipeline->info;
    heddle_stream_kind kind = run->way->blocking ? HEDDLE_STREAM_BLOCKING : HEDDLE_STREAM_NON_BLOCKING;
    for (int i = 0; i < run->way->streams; i++) {
        int priority = run->way->priority && i == 0 ? info->priority_greatest : info->priority_least;
        HEDDLE_TRY(heddle_stream_create_kind(run->pipeline->device, kind, priority, &run->streams[i]));
        run->contexts[i] = (finished){.run = run, .stream = i};
    }
    if (run->way->default_work)
        HEDDLE_TRY(heddle_stream_create_kind(run->pipeline->device, HEDDLE_STREAM_DEFAULT, 0, &run->default_stream));
    if (run->way->ahead)
        HEDDLE_TRY(heddle_stream_create_kind(run->pipeline->device, kind, info->priority_least, &run->teller));
    return heddle_pipeline_slots(run->pipeline, run->way->streams);
}

static void close_streams(running *run)
{
    for (int i = 0; i < run->way->streams; i++)
        heddle_stream_destroy(run->streams[i]);
    heddle_stream_destroy(run->default_stream);
    heddle_stream_destroy(run->teller);
}

// --- queueing -------------------------------------------------------------------------------------------------------

static void tell(void *context)
{
    finished *told = context;
    pthread_mutex_lock(&told->run->lock);
    told->run->done[told->stream]++;
    pthread_cond_signal(&told->run->changed);
    pthread_mutex_unlock(&told->run->lock);
}

// A GPU's engines take one copy a direction at a time. On cpu any core could take any stage of any batch: events make
// an engine of each stage.
static bool keeps_order(const running *run)
{
    return run->way->ordered || run->pipeline->info.kind == HEDDLE_CPU;
}

static heddle_status queue_stage(running *run, int batch, heddle_pipeline_stage stage)
{
    const int slot = batch % run->way->streams;
    const heddle_pipeline_events *events = run->pipeline->parts->events;
    heddle_stream *stream = run->streams[slot];
    if (batch > 0 && keeps_order(run))
        HEDDLE_TRY(heddle_stream_wait(stream, events[batch - 1].done[stage]));
    HEDDLE_TRY(heddle_event_record(events[batch].begin[stage], stream));
    HEDDLE_TRY(heddle_pipeline_queue(run->pipeline, stage, stream, run->host, batch, slot, run->work));
    return heddle_event_record(events[batch].done[stage], stream);
}

// A callback holds up its stream until the host has run it. On a stream of its own it holds up nobody.
static heddle_status queue_callback(running *run, int batch)
{
    const int stream = batch % run->way->streams;
    heddle_stream *teller = run->way->ahead ? run->teller : run->streams[stream];
    if (run->way->ahead)
        HEDDLE_TRY(heddle_stream_wait(teller, run->pipeline->parts->events[batch].done[HEDDLE_PIPELINE_COPY_OUT]));
    return heddle_stream_callback(teller, tell, &run->contexts[stream]);
}

static heddle_status queue_batch(running *run, int batch)
{
    for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
        HEDDLE_TRY(queue_stage(run, batch, (heddle_pipeline_stage)stage));
        if (run->default_stream && stage == HEDDLE_PIPELINE_COPY_IN)
            HEDDLE_TRY(heddle_fill(run->default_stream, run->pipeline->parts->word, 0, sizeof(float)));
    }
    return run->way->callbacks ? queue_callback(run, batch) : HEDDLE_OK;
}

// Until a callback has told of `count` batches of the stream. The simulated GPU runs nothing while nobody asks for it,
// and a stream that has failed drops its callbacks: after a while the stream itself is waited for.
static heddle_status await(running *run, int stream, int count)
{
    const long patience = 20 * 1000 * 1000; // nanoseconds
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += patience;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int error = 0;
    pthread_mutex_lock(&run->lock);
    while (run->done[stream] < count && error == 0)
        error = pthread_cond_timedwait(&run->changed, &run->lock, &until);
    bool told = run->done[stream] >= count;
    pthread_mutex_unlock(&run->lock);
    if (told)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_stream_synchronize(run->way->ahead ? run->teller : run->streams[stream]));
    pthread_mutex_lock(&run->lock);
    told = run->done[stream] >= count;
    pthread_mutex_unlock(&run->lock);
    return told ? HEDDLE_OK : heddle_fail(HEDDLE_DEVICE, "stream %d is done, but a callback on it never ran", stream);
}

static heddle_status queue_all(running *run)
{
    const int at_once = run->way->ahead ? 2 : 1; // batches that are queued on a stream
    memset(run->done, 0, sizeof run->done);
    for (int b = 0; b < run->pipeline->options.batches; b++) {
        if (run->way->callbacks && b >= at_once * run->way->streams)
            HEDDLE_TRY(await(run, b % run->way->streams, b / run->way->streams - (at_once - 1)));
        HEDDLE_TRY(queue_batch(run, b));
    }
    return heddle_device_synchronize(run->pipeline->device);
}

// --- times ----------------------------------------------------------------------------------------------------------

static heddle_status read_events(const running *run, heddle_pipeline_batch *timeline)
{
    const heddle_pipeline_events *events = run->pipeline->parts->events;
    heddle_event *first = events[0].begin[HEDDLE_PIPELINE_COPY_IN];
    for (int b = 0; b < run->pipeline->options.batches; b++) {
        timeline[b].stream = b % run->way->streams;
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
            heddle_pipeline_span *span = &timeline[b].stages[stage];
            HEDDLE_TRY(heddle_event_elapsed(first, events[b].begin[stage], &span->begin));
            HEDDLE_TRY(heddle_event_elapsed(first, events[b].done[stage], &span->end));
        }
    }
    return HEDDLE_OK;
}

// An event before a stage happens when its stream gets there; the stage may still wait for the engine then, which does
// one thing after another: it begins when the latest before it was done.
static void wait_for_engine(heddle_pipeline_batch *timeline, int batches, int stage)
{
    for (int b = 0; b < batches; b++) {
        heddle_pipeline_span *span = &timeline[b].stages[stage];
        double begin = span->begin;
        for (int other = 0; other < batches; other++) {
            double end = timeline[other].stages[stage].end;
            if (end < span->end && end > begin)
                begin = end;
        }
        span->begin = begin; // ends stay as they are: what is looked at next does not change
    }
}

static heddle_status read_timeline(const running *run, heddle_pipeline_batch *timeline)
{
    HEDDLE_TRY(read_events(run, timeline));
    for (int stage = 0; run->pipeline->info.kind == HEDDLE_CUDA && stage < HEDDLE_PIPELINE_STAGES; stage++)
        wait_for_engine(timeline, run->pipeline->options.batches, stage);
    return HEDDLE_OK;
}

// How long a batch is under way, on the first stream and on the others.
static void find_latencies(const heddle_pipeline *pipeline, heddle_pipeline_run *made)
{
    double sums[2] = {0, 0};
    int counts[2] = {0, 0};
    for (int b = 0; b < pipeline->options.batches; b++) {
        const heddle_pipeline_batch *batch = &made->timeline[b];
        sums[batch->stream > 0] +=
            batch->stages[HEDDLE_PIPELINE_COPY_OUT].end - batch->stages[HEDDLE_PIPELINE_COPY_IN].begin;
        counts[batch->stream > 0]++;
    }
    made->urgent = sums[0] / counts[0];
    made->others = counts[1] > 0 ? sums[1] / counts[1] : 0;
}

static heddle_status run_round(running *run, double *milliseconds)
{
    heddle_pipeline_poison(run->pipeline, run->host);
    double began = heddle_now();
    heddle_status status = queue_all(run);
    *milliseconds = 1e3 * (heddle_now() - began);
    if (status != HEDDLE_OK) {
        heddle_device_synchronize(run->pipeline->device); // callbacks still use what is on this stack
        return status;
    }
    return heddle_pipeline_check(run->pipeline, run->host, run->work);
}

static heddle_status run_rounds(running *run, heddle_pipeline_run *made)
{
    const int rounds = run->pipeline->options.rounds;
    double times[HEDDLE_PIPELINE_MOST_ROUNDS], time = 0;
    if (run->pipeline->timed)
        HEDDLE_TRY(run_round(run, &time)); // warms up
    for (int i = 0; i < rounds; i++)
        HEDDLE_TRY(run_round(run, &times[i]));
    if (!run->pipeline->timed)
        return HEDDLE_OK;
    HEDDLE_TRY(read_timeline(run, made->timeline));
    find_latencies(run->pipeline, made);
    made->milliseconds = heddle_bench_median(times, rounds); // sorts
    made->low = times[0];
    made->high = times[rounds - 1];
    return HEDDLE_OK;
}

static heddle_status run_way(heddle_pipeline *pipeline, heddle_pipeline_run *made)
{
    running run = {.pipeline = pipeline, .way = &made->way, .work = made->alone.work};
    run.host = made->way.pageable ? &pipeline->parts->pageable : &pipeline->parts->pinned;
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    heddle_status status = open_streams(&run);
    if (status == HEDDLE_OK)
        status = run_rounds(&run, made);
    close_streams(&run);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    return status;
}

heddle_status heddle_pipeline_measure(heddle_pipeline *pipeline, const char *name, const heddle_pipeline_way *way)
{
    if (way->streams < 1 || way->streams > HEDDLE_PIPELINE_MOST_STREAMS)
        return heddle_fail(HEDDLE_INVALID, "%d streams; 1 to %d are possible", way->streams,
                           HEDDLE_PIPELINE_MOST_STREAMS);
    if (pipeline->count == HEDDLE_PIPELINE_MOST_RUNS)
        return heddle_fail(HEDDLE_INVALID, "a pipeline takes at most %d runs", HEDDLE_PIPELINE_MOST_RUNS);
    heddle_pipeline_run made = {.way = *way};
    snprintf(made.name, sizeof made.name, "%s", name);
    HEDDLE_TRY(heddle_pipeline_host_make(pipeline, way->pageable));
    HEDDLE_TRY(heddle_pipeline_measure_alone(pipeline, way->little_work ? 1 : pipeline->options.work, &made.alone));
    made.timeline = calloc((size_t)pipeline->options.batches, sizeof *made.timeline);
    if (!made.timeline)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a timeline");
    heddle_status status = run_way(pipeline, &made);
    if (status == HEDDLE_OK)
        status = heddle_device_describe(pipeline->device, &pipeline->info_after);
    if (status != HEDDLE_OK) {
        free(made.timeline);
        return heddle_fail_within(status, "%s", name);
    }
    pipeline->runs[pipeline->count++] = made;
    return HEDDLE_OK;
}
