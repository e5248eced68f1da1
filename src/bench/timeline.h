// What ran on a GPU and when: kernels and copies of any CUDA program, as libheddle-cupti.so saw them. Read here, summed
// up, and given on as a trace that Chrome and Perfetto show.
#pragma once

#include <stddef.h>

#include "heddle/status.h"

typedef enum heddle_span_kind {
    HEDDLE_SPAN_KERNEL,
    HEDDLE_SPAN_COPY_IN,     // from the host
    HEDDLE_SPAN_COPY_OUT,    // to the host
    HEDDLE_SPAN_COPY_INSIDE, // between two places of the device
    HEDDLE_SPAN_SET,
    HEDDLE_SPAN_KINDS,
} heddle_span_kind;

typedef struct heddle_span {
    heddle_span_kind kind;
    int stream;        // CUDA's own number
    double begin, end; // seconds after the first
    double bytes;      // of a copy or a set
    char name[64];     // of a kernel, without its types
} heddle_span;

// What one kernel's launches, or one kind of copy's, come to.
typedef struct heddle_timeline_row {
    heddle_span_kind kind;
    const char *name;
    int count;
    double seconds, longest;
    double bytes;
    double under_kernels; // seconds of a copy in which some kernel ran
} heddle_timeline_row;

typedef struct heddle_timeline {
    heddle_span *spans; // by begin
    int count, streams;
    long dropped; // that CUPTI had no room for
    double seconds;
    double kernel_seconds;     // in which at least one kernel ran
    heddle_timeline_row *rows; // kernels first, longest in sum first
    int row_count;
} heddle_timeline;

// HEDDLE_CORRUPT names the line that makes no sense. A file without spans is an empty timeline.
heddle_status heddle_timeline_read(const char *path, heddle_timeline *timeline);
void heddle_timeline_free(heddle_timeline *timeline);

// Draws `width` characters per stream from `begin` to `end`: # kernel, > copy in, < copy out, = copy inside or set,
// whichever takes most of a character's time. `line` has room for width + 1.
void heddle_timeline_draw(const heddle_timeline *timeline, int stream, double begin, double end, int width, char *line);

struct cJSON;
// Adds a span, in seconds, to the list of a document in the trace-event format.
struct cJSON *heddle_trace_add(struct cJSON *events, const char *name, const char *kind, int stream, double begin,
                               double end);
struct cJSON *heddle_timeline_trace(const heddle_timeline *timeline);   // the trace-event format
struct cJSON *heddle_timeline_summary(const heddle_timeline *timeline); // the rows
