// The pipeline as JSON: the result document that docs/streams.md is made from, and a trace of one run's timeline in the
// trace-event format that Chrome and Perfetto show.

#include <math.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "bench/facts.h"
#include "bench/pipeline.h"

static void add_number(cJSON *object, const char *name, double value, bool known)
{
    if (known && isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

// --- the document ---------------------------------------------------------------------------------------------------

static cJSON *alone_json(const heddle_pipeline *pipeline, const heddle_pipeline_alone *alone)
{
    cJSON *json = cJSON_CreateObject();
    for (int stage = 0; stage < HEDDLE_PIPELINE_STAGES; stage++)
        add_number(json, heddle_pipeline_stage_names[stage], alone->milliseconds[stage], pipeline->timed);
    add_number(json, "both ways", alone->both_ways, pipeline->timed);
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
    add_number(json, "milliseconds", run->milliseconds, pipeline->timed);
    add_number(json, "low", run->low, pipeline->timed);
    add_number(json, "high", run->high, pipeline->timed);
    cJSON_AddItemToObject(json, "alone", alone_json(pipeline, &run->alone));
    cJSON_AddStringToObject(json, "slowest", pipeline->timed ? heddle_pipeline_stage_names[run->alone.slowest] : "");
    add_number(json, "limit", run->alone.limit, pipeline->timed);
    add_number(json, "of_limit", heddle_pipeline_of_limit(run), pipeline->timed);
    add_number(json, "stages_at_once", heddle_pipeline_at_once(run), pipeline->timed);
    add_number(json, "urgent_batch", run->urgent, pipeline->timed);
    add_number(json, "other_batch", run->others, pipeline->timed && run->others > 0);
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

static void add_span(cJSON *events, int batch, int stream, const char *stage, const heddle_pipeline_span *span)
{
    char name[48];
    cJSON *event = cJSON_CreateObject();
    snprintf(name, sizeof name, "%s %d", stage, batch);
    cJSON_AddStringToObject(event, "name", name);
    cJSON_AddStringToObject(event, "cat", stage);
    cJSON_AddStringToObject(event, "ph", "X");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", stream);
    cJSON_AddNumberToObject(event, "ts", 1e3 * span->begin); // microseconds
    cJSON_AddNumberToObject(event, "dur", 1e3 * (span->end - span->begin));
    cJSON_AddItemToArray(events, event);
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
            add_span(events, b, run->timeline[b].stream, heddle_pipeline_stage_names[stage],
                     &run->timeline[b].stages[stage]);
    return json;
}
