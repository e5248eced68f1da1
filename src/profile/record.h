// What libheddle-cupti.so hands over: one record per kernel, copy, launch or range, as CUPTI reports it, and which node
// of a graph belongs to which operator call. Shared with the module, which is no part of the library: plain C, no
// calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum heddle_gpu_kind {
    HEDDLE_GPU_KERNEL,
    HEDDLE_GPU_COPY_IN,     // from the host
    HEDDLE_GPU_COPY_OUT,    // to the host
    HEDDLE_GPU_COPY_INSIDE, // between two places of the device
    HEDDLE_GPU_SET,
    HEDDLE_GPU_LAUNCH,   // a call of the host that started some of the above: the same `correlation`
    HEDDLE_GPU_EXTERNAL, // `correlation` was started inside of call `tag`
    HEDDLE_GPU_RANGE,    // an NVTX range, by name
    HEDDLE_GPU_KINDS,
} heddle_gpu_kind;

typedef struct heddle_gpu_record {
    heddle_gpu_kind kind;
    uint32_t stream; // CUDA's own number
    uint32_t correlation;
    int32_t tag;         // of HEDDLE_GPU_EXTERNAL
    uint64_t begin, end; // nanoseconds of CLOCK_MONOTONIC
    uint64_t bytes;      // of a copy or a set
    uint64_t node;       // of the graph; 0: launched without one
    int32_t name;        // index in a list of names; -1: none
} heddle_gpu_record;

// Where records go. Called from CUPTI's own threads, one at a time; `node` from the thread that captures.
typedef struct heddle_gpu_sink {
    void *context;
    void (*record)(void *context, const heddle_gpu_record *record, const char *name);
    // A node was made inside of call `tag`, or (tag < 0) as a copy of node `from`.
    void (*node)(void *context, uint64_t node, uint64_t from, int32_t tag);
} heddle_gpu_sink;

// What the module exports. Start returns 0, or 1 with the reason in `why`. Pause ends recording at little cost, in the
// midst of a run; stop also hands over what CUPTI still holds.
typedef int heddle_gpu_start(const heddle_gpu_sink *sink, char *why, size_t size);
typedef void heddle_gpu_stop(void);
typedef void heddle_gpu_enter(int32_t tag); // operator call `tag` begins in this thread; -1: it is over
#define HEDDLE_GPU_START "heddle_cupti_start"
#define HEDDLE_GPU_PAUSE "heddle_cupti_pause"
#define HEDDLE_GPU_STOP  "heddle_cupti_stop"
#define HEDDLE_GPU_ENTER "heddle_cupti_enter"
