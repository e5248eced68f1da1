// The pipeline as JSON: the result document that docs/streams.md is made from, and a trace of one run's timeline in the
// trace-event format that Chrome and Perfetto show.

#include <math.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "bench/facts.h"
#include "bench/pipeline.h"
#include "bench/timeline.h"

// null on sim, which reports no timings.
static void add_time(cJSON *object, const char *name, double value, const heddle_pipeline *pipeline)
{
    heddle_bench_add_figure(object, name, pipeline->timed ? value : NAN);
}

// --- the document ---------------------------------------------------------------------------------------------------

static cJSON *alone_json(const heddle_pipeline *pipeline, const heddle_pipeline_alone *alone)
{
    cJSON *json = cJSON_CreateObject();
    for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++)
        add_time(json, heddle_pipeline_stage_names[stage], alone->milliseconds[stage], pipeline);
    add_time(json, "both ways", alone->both_ways, pipeline);
    return json;
}

static cJSON *timeline_json(const heddle_pipeline *pipeline, const heddle_pipeline_run *run)
{
    cJSON *json = cJSON_CreateArray();
    for (int b = 0; b < pipeline->options.batches; b++) {
        cJSON *batch = cJSON_CreateObject();
        cJSON_AddNumberToObject(batch, "batch", b);
        cJSON_AddNumberToObject(batch, "stream", run->timeline[b].stream);
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++) {
            const heddle_pipeline_span *span = &run->timeline[b].stages[stage];
            cJSON_AddItemToObject(batch, heddle_pipeline_stage_names[stage],
                                  cJSON_CreateDoubleArray((double[]){span->begin, span->end}, 2));
        }
        cJSON_AddItemToArray(json, batch);
    }
    return json;
}

static cJSON *run_json(const heddle_pipeline *pipeline, const heddle_pipeline_run *run)
{
    const heddle_pipeline_way *way = &run->way;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", run->name);
    cJSON_AddNumberToObject(json, "streams", way->streams);
    cJSON_AddStringToObject(json, "memory", way->pageable ? "pageable" : "pinned");
    cJSON_AddStringToObject(json, "kind", way->blocking ? "blocking" : "non-blocking");
    cJSON_AddBoolToObject(json, "default_work", way->default_work);
    cJSON_AddStringToObject(json, "queued_by", way->ahead ? "callbacks ahead" : way->callbacks ? "callbacks" : "loop");
    cJSON_AddBoolToObject(json, "priority", way->priority);
    cJSON_AddBoolToObject(json, "ordered", way->ordered);
    cJSON_AddNumberToObject(json, "work", run->alone.work);
    add_time(json, "milliseconds", run->milliseconds, pipeline);
    add_time(json, "low", run->low, pipeline);
    add_time(json, "high", run->high, pipeline);
    cJSON_AddItemToObject(json, "alone", alone_json(pipeline, &run->alone));
    cJSON_AddStringToObject(json, "slowest", pipeline->timed ? heddle_pipeline_stage_names[run->alone.slowest] : "");
    add_time(json, "limit", run->alone.limit, pipeline);
    add_time(json, "of_limit", heddle_pipeline_of_limit(run), pipeline);
    add_time(json, "stages_at_once", heddle_pipeline_at_once(run), pipeline);
    add_time(json, "urgent_batch", run->urgent, pipeline);
    add_time(json, "other_batch", run->others > 0 ? run->others : NAN, pipeline);
    cJSON_AddBoolToObject(json, "checked", true); // a run that was wrong is no run
    if (pipeline->timed && pipeline->count == 1)
        cJSON_AddItemToObject(json, "timeline", timeline_json(pipeline, run));
    return json;
}

cJSON *heddle_pipeline_json(const heddle_pipeline *pipeline)
{
    cJSON *json = cJSON_CreateObject();
    heddle_bench_add_facts(json, &(heddle_bench_facts){.format = "heddle pipeline 1",
                                                       .began = pipeline->began,
                                                       .device = &pipeline->info,
                                                       .clock_after = pipeline->info_after.clock,
                                                       .memory_clock_after = pipeline->info_after.memory_clock});
    cJSON_AddNumberToObject(json, "batches", pipeline->options.batches);
    cJSON_AddNumberToObject(json, "bytes", (double)pipeline->options.bytes);
    cJSON_AddNumberToObject(json, "work", pipeline->options.work);
    cJSON_AddNumberToObject(json, "rounds", pipeline->options.rounds);
    cJSON *runs = cJSON_AddArrayToObject(json, "runs");
    for (int i = 0; runs && i < pipeline->count; i++)
        cJSON_AddItemToArray(runs, run_json(pipeline, &pipeline->runs[i]));
    return json;
}

// --- the trace ------------------------------------------------------------------------------------------------------

static void add_thread(cJSON *events, int stream)
{
    char name[32];
    cJSON *event = cJSON_CreateObject(), *arguments = cJSON_CreateObject();
    snprintf(name, sizeof name, "stream %d", stream);
    cJSON_AddStringToObject(event, "name", "thread_name");
    cJSON_AddStringToObject(event, "ph", "M");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", stream);
    cJSON_AddStringToObject(arguments, "name", name);
    cJSON_AddItemToObject(event, "args", arguments);
    cJSON_AddItemToArray(events, event);
}

static void add_stage(cJSON *events, int batch, int stream, const char *stage, const heddle_pipeline_span *span)
{
    char name[48];
    snprintf(name, sizeof name, "%s %d", stage, batch);
    heddle_trace_add(events, name, stage, stream, 1e-3 * span->begin, 1e-3 * span->end);
}

cJSON *heddle_pipeline_trace(const heddle_pipeline *pipeline)
{
    const heddle_pipeline_run *run = &pipeline->runs[pipeline->shown];
    cJSON *json = cJSON_CreateObject();
    cJSON *events = cJSON_AddArrayToObject(json, "traceEvents");
    cJSON_AddStringToObject(json, "displayTimeUnit", "ms");
    for (int stream = 0; stream < run->way.streams; stream++)
        add_thread(events, stream);
    for (int b = 0; b < pipeline->options.batches; b++)
        for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++)
            add_stage(events, b, run->timeline[b].stream, heddle_pipeline_stage_names[stage],
                      &run->timeline[b].stages[stage]);
    return json;
}
