// A profile: what ran in the latest training steps, when, and for which layer. On cpu and sim the plan's graphs hold
// two marks around each operator call, which read the clock; on cuda CUPTI's records are matched to the calls. Either
// way the result is the same list of spans, which the other files of this folder sum up and write.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "heddle/op.h"
#include "nn/probe.h"
#include "profile/record.h"

enum { HEDDLE_PROFILE_NAME = 160, HEDDLE_PROFILE_SPANS = 1 << 17 };

typedef enum heddle_lane_kind { HEDDLE_LANE_HOST, HEDDLE_LANE_STREAM, HEDDLE_LANE_COPIES } heddle_lane_kind;

// Where spans stand one behind another: the host, a stream, the copies of a stream.
typedef struct heddle_profile_lane {
    heddle_lane_kind kind;
    char name[32];      // "stream 1"
    const void *object; // the stream that it is, while it runs
    uint32_t stream;    // or CUDA's number
} heddle_profile_lane;

// An operator call of a plan, or other work: what a span is of.
typedef struct heddle_profile_call {
    char layer[HEDDLE_PROFILE_NAME]; // "conv1", "conv1 to pool1"; "": of none
    const char *op;                  // "conv2d_forward", "images in"
    const char *rung;                // NULL: no operator
    const char *tier;
    heddle_phase phase;
    heddle_arithmetic arithmetic;
    heddle_cost cost; // of one run of it
    int steps;        // that one run of it takes
    bool first;       // a step begins with it
    bool host;        // it ran on the host
} heddle_profile_call;

typedef struct heddle_profile_span {
    int64_t begin, end; // nanoseconds of CLOCK_MONOTONIC
    int call;           // -1: of no call
    int name;           // of the kernel or copy, in `names`; -1: the call is all there is
    int lane;
    int group;    // which run of a step's calls it belongs to, from 0; -1: before the first
    uint32_t run; // spans of one launch have one number
    heddle_gpu_kind kind;
    double bytes; // of a copy
} heddle_profile_span;

// A call of the host that launched something.
typedef struct heddle_profile_launch {
    int64_t begin, end;
    uint32_t run;
    int name;
} heddle_profile_launch;

// What was seen, once it is over.
typedef struct heddle_profile_data {
    heddle_device_kind device;
    heddle_profile_call *calls;
    int call_count;
    heddle_profile_lane *lanes;
    int lane_count;
    char **names; // of kernels, copies and launches
    int name_count;
    heddle_profile_span *spans; // by begin
    int span_count;
    heddle_profile_launch *launches; // by begin
    int launch_count;
    int groups;    // runs of a step's calls, each of one step or more
    long dropped;  // spans that were overwritten by later ones, or that CUPTI lost
    char **ranges; // names of NVTX ranges that were seen; cuda only
    int range_count;
    bool stopped;   // before the run was over: enough had been recorded
    char note[256]; // what is missing and why; "": nothing
} heddle_profile_data;

typedef struct heddle_profile heddle_profile;

// `spans`: how many of the latest are kept. All memory is taken here and while plans are made.
heddle_status heddle_profile_create(heddle_device_kind device, int spans, heddle_profile **profile);
void heddle_profile_destroy(heddle_profile *profile);
// For heddle_train_options.
heddle_probe *heddle_profile_probe(heddle_profile *profile);
// After the run, when nothing is queued: what was seen. It lives as long as the profile.
heddle_status heddle_profile_finish(heddle_profile *profile, const heddle_profile_data **data);

// --- match.c ---------------------------------------------------------------------------------------------------------

// Which operator call a node of a graph belongs to.
typedef struct heddle_gpu_node {
    uint64_t node;
    int32_t tag;
} heddle_gpu_node;

// CUPTI's records as spans and launches, matched to calls: by the node of a graph, else by what the host was inside of
// when it launched. Sets lanes, spans and launches of `data`, which has calls and names. Records may come in any order;
// `records` and `nodes` are sorted here.
heddle_status heddle_profile_match(heddle_profile_data *data, heddle_gpu_record *records, int record_count,
                                   heddle_gpu_node *nodes, int node_count);
// With all spans there: has a kernel begin where the one ahead of it in its stream ends, sorts spans by begin, matches
// the kernels that are left by their names where only one call has them, and groups them into steps.
heddle_status heddle_profile_settle(heddle_profile_data *data);
// Whether a span is the host's between two steps: evaluating, saving.
bool heddle_profile_is_pause(const heddle_profile_data *data, const heddle_profile_span *span);
// Numbers the groups of spans that are sorted by begin.
void heddle_profile_group(heddle_profile_data *data);

// --- report.c --------------------------------------------------------------------------------------------------------

// What a device can do at most; 0: not known.
typedef struct heddle_profile_limits {
    double bytes_per_second;
    double flops; // float32 without tensor cores
} heddle_profile_limits;

typedef struct heddle_profile_row {
    const heddle_profile_call *call;
    heddle_phase phase;
    int64_t calls;
    double seconds;
    double share;    // of all time in steps
    double flops;    // per second; NAN: not known
    double bytes;    // per second
    double roofline; // share of the least time this device could take; NAN: not known
    const char *bound;
    double gap;  // seconds before it in which nothing ran, all together
    int kernels; // that ran for it; 0: not known
} heddle_profile_row;

typedef struct heddle_profile_report {
    heddle_profile_row *rows; // in the order of a step
    int row_count;
    int64_t steps;
    double seconds;                // of these steps
    double phases[HEDDLE_PHASES];  // seconds of work
    double other;                  // of work that belongs to no call
    double gaps;                   // in which nothing ran
    double pauses;                 // between steps, for evaluating and saving; not in `seconds`
    double copies, copies_covered; // seconds of copies between host and device, and those of them under a kernel
} heddle_profile_report;

// The first group is left out where there are others: it pays for first touches and cold caches.
heddle_status heddle_profile_summarise(const heddle_profile_data *data, const heddle_profile_limits *limits,
                                       heddle_profile_report *report);
void heddle_profile_report_free(heddle_profile_report *report);

extern const char *const heddle_phase_names[HEDDLE_PHASES];
// The order in which a step has them.
extern const heddle_phase heddle_phase_order[HEDDLE_PHASES];

// The group whose length is the median: where it begins, with the host's loading before it, and ends. False: none.
bool heddle_profile_typical(const heddle_profile_data *data, int64_t *begin, int64_t *end, int *steps);

// --- show.c ----------------------------------------------------------------------------------------------------------

heddle_status heddle_profile_print(const heddle_profile_data *data, const heddle_profile_report *report, FILE *file);
struct cJSON;
struct cJSON *heddle_profile_json(const heddle_profile_data *data, const heddle_profile_report *report);

// "conv1 conv2d_forward": of a span, its call or its kernel.
const char *heddle_profile_label(const heddle_profile_data *data, const heddle_profile_span *span, char *text,
                                 size_t size);

// --- perfetto.c, svg.c -----------------------------------------------------------------------------------------------

// A trace in Perfetto's own format. HEDDLE_MISSING in a build without protobuf-c.
heddle_status heddle_profile_write_perfetto(const heddle_profile_data *data, const char *path);
bool heddle_profile_has_perfetto(void);
// A picture of one step.
heddle_status heddle_profile_write_svg(const heddle_profile_data *data, const char *title, const char *path);

// --- nvtx.c ----------------------------------------------------------------------------------------------------------

// Ranges that nsys shows; nothing in a build without nvtx3, or where no tool listens.
void heddle_nvtx_push(const char *name);
void heddle_nvtx_pop(void);
bool heddle_nvtx_is_built(void);
