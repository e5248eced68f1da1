// The pipeline as a whole: opened, closed, and run in several ways for a comparison. Each file calls only those below
// it: pipeline_run.c runs the batches one way, pipeline_alone.c measures the limit, pipeline_data.c fills and checks
// host memory, pipeline_stage.c queues one stage of one batch.

#include "bench/pipeline.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pipeline_parts.h"

const char *const heddle_pipeline_stage_names[] = {"copy in", "compute", "copy out"};

// --- opening --------------------------------------------------------------------------------------------------------

heddle_pipeline_options heddle_pipeline_defaults(heddle_device_kind kind)
{
    // Enough batches that filling and draining, two stages of one batch, are a few percent; each so large that a copy
    // takes a hundred times as long as its launch.
    if (kind == HEDDLE_CUDA)
        return (heddle_pipeline_options){.batches = 128, .bytes = (size_t)16 << 20, .rounds = 3};
    if (kind == HEDDLE_CPU)
        return (heddle_pipeline_options){.batches = 32, .bytes = (size_t)4 << 20, .rounds = 3};
    return (heddle_pipeline_options){.batches = 7, .bytes = (size_t)4 << 10, .rounds = 1};
}

static heddle_status check_options(const heddle_pipeline_options *options)
{
    if (options->batches < 1 || options->batches > HEDDLE_PIPELINE_MOST_BATCHES)
        return heddle_fail(HEDDLE_INVALID, "a pipeline of %d batches; 1 to %d are possible", options->batches,
                           HEDDLE_PIPELINE_MOST_BATCHES);
    if (options->bytes < sizeof(float) || options->bytes % sizeof(float) != 0 ||
        options->bytes / sizeof(float) > INT_MAX)
        return heddle_fail(HEDDLE_INVALID, "batches of %zu bytes; a multiple of 4 from 4 to %zu is possible",
                           options->bytes, (size_t)INT_MAX * sizeof(float));
    if (options->work < 0 || options->work > HEDDLE_PIPELINE_MOST_WORK)
        return heddle_fail(HEDDLE_INVALID, "%d multiply-adds per element; 1 to %d are possible", options->work,
                           HEDDLE_PIPELINE_MOST_WORK);
    if (options->rounds < 1 || options->rounds > HEDDLE_PIPELINE_MOST_ROUNDS)
        return heddle_fail(HEDDLE_INVALID, "%d rounds; 1 to %d are possible", options->rounds,
                           HEDDLE_PIPELINE_MOST_ROUNDS);
    return HEDDLE_OK;
}

static heddle_status make_events(heddle_pipeline *pipeline)
{
    struct heddle_pipeline_parts *parts = pipeline->parts;
    parts->events = calloc((size_t)pipeline->options.batches, sizeof *parts->events);
    if (!parts->events)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the pipeline's events");
    for (int b = 0; b < pipeline->options.batches; b++)
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
            HEDDLE_TRY(heddle_event_create(pipeline->device, &parts->events[b].begin[stage]));
            HEDDLE_TRY(heddle_event_create(pipeline->device, &parts->events[b].done[stage]));
        }
    return HEDDLE_OK;
}

static heddle_status open_parts(heddle_pipeline *pipeline)
{
    struct heddle_pipeline_parts *parts = pipeline->parts;
    HEDDLE_TRY(heddle_device_describe(pipeline->device, &pipeline->info));
    pipeline->info_after = pipeline->info;
    pipeline->timed = pipeline->info.kind != HEDDLE_SIM;
    HEDDLE_TRY(heddle_op_find("polynomial", &parts->op));
    heddle_polynomial_shape shape = heddle_pipeline_shape(pipeline, 1);
    HEDDLE_TRY(heddle_rung_choose(parts->op, pipeline->info.kind, HEDDLE_FUSED, HEDDLE_FULL, &shape, &parts->rung));
    HEDDLE_TRY(heddle_pool_create(0, &parts->pool));
    HEDDLE_TRY(heddle_alloc(pipeline->device, sizeof(float), &parts->word));
    HEDDLE_TRY(make_events(pipeline));
    HEDDLE_TRY(heddle_pipeline_host_make(pipeline, false));
    HEDDLE_TRY(heddle_pipeline_slots(pipeline, 1));
    return pipeline->options.work > 0 ? HEDDLE_OK : heddle_pipeline_balance(pipeline, &pipeline->options.work);
}

heddle_status heddle_pipeline_open(heddle_device *device, const heddle_pipeline_options *options,
                                   heddle_pipeline **made)
{
    *made = NULL;
    HEDDLE_TRY(check_options(options));
    heddle_pipeline *pipeline = calloc(1, sizeof *pipeline);
    struct heddle_pipeline_parts *parts = calloc(1, sizeof *parts);
    if (!pipeline || !parts) {
        free(pipeline);
        free(parts);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a pipeline");
    }
    pipeline->device = device;
    pipeline->options = *options;
    pipeline->parts = parts;
    time(&pipeline->began);
    heddle_status status = open_parts(pipeline);
    if (status == HEDDLE_OK)
        *made = pipeline;
    else
        heddle_pipeline_close(pipeline);
    return status;
}

void heddle_pipeline_close(heddle_pipeline *pipeline)
{
    if (!pipeline)
        return;
    struct heddle_pipeline_parts *parts = pipeline->parts;
    heddle_device_synchronize(pipeline->device); // after a failure, work may still be under way
    for (int b = 0; parts->events && b < pipeline->options.batches; b++)
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
            heddle_event_destroy(parts->events[b].begin[stage]);
            heddle_event_destroy(parts->events[b].done[stage]);
        }
    for (int slot = 0; slot < HEDDLE_PIPELINE_MOST_STREAMS; slot++) {
        heddle_free(pipeline->device, parts->input[slot]);
        heddle_free(pipeline->device, parts->output[slot]);
    }
    heddle_free(pipeline->device, parts->word);
    heddle_pipeline_host_free(pipeline);
    heddle_pool_destroy(parts->pool);
    for (int i = 0; i < pipeline->count; i++)
        free(pipeline->runs[i].timeline);
    free(parts->events);
    free(parts);
    free(pipeline);
}

// --- figures --------------------------------------------------------------------------------------------------------

double heddle_pipeline_of_limit(const heddle_pipeline_run *run)
{
    return run->alone.limit / run->milliseconds;
}

double heddle_pipeline_at_once(const heddle_pipeline_run *run)
{
    return run->alone.serial / run->milliseconds;
}

double heddle_pipeline_beginning(const heddle_pipeline *pipeline, int batches)
{
    int last = batches < pipeline->options.batches ? batches : pipeline->options.batches;
    return pipeline->runs[pipeline->shown].timeline[last - 1].stages[HEDDLE_PIPELINE_COPY_OUT].end;
}

// --- comparing ------------------------------------------------------------------------------------------------------

static heddle_status measure_streams(heddle_pipeline *pipeline, int streams)
{
    // Around the number that was asked for: what fewer cost, and what more still bring.
    const int counts[] = {1, 2, streams, streams + 1, 2 * streams};
    int last = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char name[HEDDLE_PIPELINE_TEXT];
        if (counts[i] <= last || counts[i] > HEDDLE_PIPELINE_MOST_STREAMS)
            continue;
        last = counts[i];
        snprintf(name, sizeof name, "%d stream%s", last, last == 1 ? "" : "s");
        if (last == streams)
            pipeline->shown = pipeline->count;
        HEDDLE_TRY(heddle_pipeline_measure(pipeline, name, &(heddle_pipeline_way){.streams = last}));
    }
    return HEDDLE_OK;
}

heddle_status heddle_pipeline_compare(heddle_pipeline *pipeline, int streams)
{
    const struct {
        const char *name;
        heddle_pipeline_way way;
    } rows[] = {
        {"pageable memory", {.pageable = true}},
        {"work on the default stream", {.default_work = true}},
        {"the same, blocking streams", {.default_work = true, .blocking = true}},
        {"callbacks queue the next batch", {.callbacks = true}},
        {"callbacks on their own stream", {.callbacks = true, .ahead = true}},
        {"first stream high priority", {.priority = true}},
        {"events keep the order", {.ordered = true}},
        {"one multiply-add", {.little_work = true}},
    };
    char name[HEDDLE_PIPELINE_TEXT];
    HEDDLE_TRY(measure_streams(pipeline, streams));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        heddle_pipeline_way way = rows[i].way;
        if (way.ordered && pipeline->info.kind == HEDDLE_CPU)
            continue; // they are anyway
        // Twice as many where one is urgent: where none has to wait, none can go first.
        way.streams = way.priority && 2 * streams <= HEDDLE_PIPELINE_MOST_STREAMS ? 2 * streams : streams;
        snprintf(name, sizeof name, "%s", rows[i].name);
        if (way.priority)
            snprintf(name, sizeof name, "%s of %d", rows[i].name, way.streams);
        HEDDLE_TRY(heddle_pipeline_measure(pipeline, name, &way));
    }
    return HEDDLE_OK;
}
