// A stream of batches through copy-in, compute and copy-out over several streams: what runs beside what, how long it
// takes, and how near that is to the limit, the slowest stage alone. Each batch's output is checked after every round.
#pragma once

#include <stdio.h>
#include <time.h>

#include "heddle/op.h"

enum {
    HEDDLE_PIPELINE_MOST_STREAMS = 64,
    HEDDLE_PIPELINE_MOST_BATCHES = 4096,
    HEDDLE_PIPELINE_MOST_WORK = 1 << 20, // rounds: beyond it rounding hides what a batch was made from
    HEDDLE_PIPELINE_MOST_ROUNDS = 99,
    HEDDLE_PIPELINE_MOST_RUNS = 20,
    HEDDLE_PIPELINE_TEXT = 64,
};

typedef enum heddle_pipeline_stage {
    HEDDLE_PIPELINE_COPY_IN,
    HEDDLE_PIPELINE_COMPUTE,
    HEDDLE_PIPELINE_COPY_OUT,
    HEDDLE_PIPELINE_STAGES,
} heddle_pipeline_stage;
// "copy in", "compute", "copy out".
extern const char *const heddle_pipeline_stage_names[];

typedef struct heddle_pipeline_options {
    int batches;
    size_t bytes; // of a batch: floats
    int work;     // rounds of multiply and add on each element; 0: enough that compute takes as long as the copies
    int rounds;   // the median of them counts
} heddle_pipeline_options;

// One way to run all batches.
typedef struct heddle_pipeline_way {
    int streams;
    bool pageable;     // host memory that is not pinned
    bool blocking;     // streams that wait for the default stream, as cudaStreamCreate makes them
    bool default_work; // each batch also clears a word on the default stream, as code without streams does
    bool callbacks;    // a batch is queued when a host callback says that the one before it on its stream is done
    bool ahead;        // with callbacks: they stand on a stream of their own, and each stream has one batch more queued
    bool priority;     // the first stream has the highest priority
    bool ordered;      // events keep the batches in order: a stage waits for the same stage of the batch before, as
                       // it always does on cpu
    bool little_work;  // one round: the copies are the limit
} heddle_pipeline_way;

// Milliseconds since the first stage began. Events tell when a stage is done and when its stream got to it; on a GPU it
// begins when the engine it shares with the other streams is done with what it did before. On cpu waiting for a core is
// part of the span.
typedef struct heddle_pipeline_span {
    double begin, end;
} heddle_pipeline_span;

typedef struct heddle_pipeline_batch {
    int stream;
    heddle_pipeline_span stages[HEDDLE_PIPELINE_STAGES];
} heddle_pipeline_batch;

// The time of each stage alone for all batches, back to back on one stream, from pinned memory.
typedef struct heddle_pipeline_alone {
    int work;
    double milliseconds[HEDDLE_PIPELINE_STAGES];
    double both_ways; // all copies, in and out at once
    double serial;    // the three stages one after another
    double limit;     // the slowest stage
    heddle_pipeline_stage slowest;
} heddle_pipeline_alone;

typedef struct heddle_pipeline_run {
    char name[HEDDLE_PIPELINE_TEXT];
    heddle_pipeline_way way;
    heddle_pipeline_alone alone;
    double milliseconds, low, high;  // of a round, by the host's clock: queueing and waiting are in it
    double urgent, others;           // latency of a batch on the first stream and on the others
    heddle_pipeline_batch *timeline; // of the last round
} heddle_pipeline_run;

typedef struct heddle_pipeline heddle_pipeline;
struct heddle_pipeline {
    heddle_pipeline_options options; // work is what was found, where none was given
    heddle_device *device;
    heddle_device_info info, info_after;
    bool timed; // not on sim
    time_t began;
    heddle_pipeline_run runs[HEDDLE_PIPELINE_MOST_RUNS];
    int count;
    int shown; // the run whose timeline is drawn
    struct heddle_pipeline_parts *parts;
};

// Defaults for a device of this kind; work 0.
heddle_pipeline_options heddle_pipeline_defaults(heddle_device_kind kind);
// HEDDLE_INVALID for options that make no sense. The device stays the caller's.
heddle_status heddle_pipeline_open(heddle_device *device, const heddle_pipeline_options *options,
                                   heddle_pipeline **made);
void heddle_pipeline_close(heddle_pipeline *pipeline);

// Runs all batches this way, some rounds of it, and adds a run. A batch that comes back wrong is HEDDLE_DEVICE and is
// named.
heddle_status heddle_pipeline_measure(heddle_pipeline *pipeline, const char *name, const heddle_pipeline_way *way);
// 1 against `streams` and more, pageable against pinned, blocking against non-blocking, callbacks against a loop, ...
heddle_status heddle_pipeline_compare(heddle_pipeline *pipeline, int streams);

// The share of the limit that a run reaches, and how many stages it has under way at once on average.
double heddle_pipeline_of_limit(const heddle_pipeline_run *run);
double heddle_pipeline_at_once(const heddle_pipeline_run *run);
// When the first `batches` of the run that is drawn were done, in milliseconds; of all where there are fewer.
double heddle_pipeline_beginning(const heddle_pipeline *pipeline, int batches);

heddle_status heddle_pipeline_show_text(const heddle_pipeline *pipeline, FILE *file);
heddle_status heddle_pipeline_show_page(const heddle_pipeline *pipeline, FILE *file);
// Callers free them with cJSON_Delete. The trace is for chrome://tracing and ui.perfetto.dev.
struct cJSON;
struct cJSON *heddle_pipeline_json(const heddle_pipeline *pipeline);
struct cJSON *heddle_pipeline_trace(const heddle_pipeline *pipeline);
