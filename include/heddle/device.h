// Devices: where things run, and memory, streams, events and graphs on them, as in CUDA and behaving alike on every
// device. On `cpu` a stream is an in-order queue run by a worker thread.
#ifndef HEDDLE_DEVICE_H
#define HEDDLE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum heddle_device_kind {
    HEDDLE_CPU,
    HEDDLE_CUDA,
    HEDDLE_SIM,
} heddle_device_kind;

typedef struct heddle_device heddle_device;
typedef struct heddle_stream heddle_stream;
typedef struct heddle_event heddle_event;
typedef struct heddle_graph heddle_graph;

typedef struct heddle_device_info {
    heddle_device_kind kind;
    char name[128];        // "Neoverse-V1", "NVIDIA H200"
    char instructions[64]; // "neon", "avx2 fma", "sm_90"
    int processors;        // cores this process may use, or multiprocessors
    int threads;           // threads operators run on
    uint64_t memory_total; // bytes
    uint64_t memory_free;  // bytes
    int priority_least;    // stream priorities, as in CUDA: a lower number runs first
    int priority_greatest;
} heddle_device_info;

// "cpu", "cuda", "sim".
HEDDLE_API const char *heddle_device_kind_name(heddle_device_kind kind);

// Opens "cpu", "cuda", "cuda:1", "sim"; `threads` is how many CPU threads operators use, 0 for one a core.
// A device that this machine or build lacks is HEDDLE_MISSING, with what to do.
HEDDLE_API heddle_status heddle_device_open(const char *name, int threads, heddle_device **device);
// Waits for all work on it. Streams, events, graphs and memory of the device must be gone before.
HEDDLE_API void heddle_device_close(heddle_device *device);
HEDDLE_API heddle_status heddle_device_describe(heddle_device *device, heddle_device_info *info);
HEDDLE_API heddle_device_kind heddle_device_get_kind(const heddle_device *device);
// Waits until everything queued on every stream has run; returns the first failure of any of it.
HEDDLE_API heddle_status heddle_device_synchronize(heddle_device *device);

// --- memory ---------------------------------------------------------------------------------------------------------

// Device memory, aligned to 256 bytes, not initialised. 0 bytes gives NULL.
HEDDLE_API heddle_status heddle_alloc(heddle_device *device, size_t bytes, void **memory);
HEDDLE_API heddle_status heddle_free(heddle_device *device, void *memory); // NULL is fine
// Host memory that copies to and from the device can use without staging.
HEDDLE_API heddle_status heddle_alloc_pinned(heddle_device *device, size_t bytes, void **memory);
HEDDLE_API heddle_status heddle_free_pinned(heddle_device *device, void *memory);

// --- streams --------------------------------------------------------------------------------------------------------
// Work on one stream runs in order; streams run beside each other. Where work of several streams is ready and threads
// are short, the stream with the lower priority number goes first.

HEDDLE_API heddle_status heddle_stream_create(heddle_device *device, int priority, heddle_stream **stream);
// Waits for the stream's work, then frees it.
HEDDLE_API heddle_status heddle_stream_destroy(heddle_stream *stream);
HEDDLE_API heddle_device *heddle_stream_device(const heddle_stream *stream);
HEDDLE_API heddle_status heddle_stream_synchronize(heddle_stream *stream);
// *done is true when nothing is queued or running.
HEDDLE_API heddle_status heddle_stream_query(heddle_stream *stream, bool *done);

// Queued; the memory must stay valid until the stream gets there. Any mix of host and device memory.
HEDDLE_API heddle_status heddle_copy(heddle_stream *stream, void *to, const void *from, size_t bytes);
HEDDLE_API heddle_status heddle_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes);
// Queues a host function. It must not call into the stream's own device (as in CUDA).
typedef void heddle_host_function(void *context);
HEDDLE_API heddle_status heddle_stream_callback(heddle_stream *stream, heddle_host_function *function, void *context);

// --- events ---------------------------------------------------------------------------------------------------------

HEDDLE_API heddle_status heddle_event_create(heddle_device *device, heddle_event **event);
HEDDLE_API heddle_status heddle_event_destroy(heddle_event *event);
// Marks this point of the stream. Recording again moves the mark.
HEDDLE_API heddle_status heddle_event_record(heddle_event *event, heddle_stream *stream);
// Work queued on `stream` from now on waits for the event's latest record (none yet: does not wait).
HEDDLE_API heddle_status heddle_stream_wait(heddle_stream *stream, heddle_event *event);
HEDDLE_API heddle_status heddle_event_synchronize(heddle_event *event);
HEDDLE_API heddle_status heddle_event_query(heddle_event *event, bool *done);
// Time between two events that have both happened; HEDDLE_INVALID if one has not.
HEDDLE_API heddle_status heddle_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds);

// --- graphs ---------------------------------------------------------------------------------------------------------

// Between begin and end, work given to the stream (and to streams that join it through events) is recorded, not run.
// Synchronising a capturing stream is HEDDLE_INVALID and ends the capture.
HEDDLE_API heddle_status heddle_capture_begin(heddle_stream *stream);
HEDDLE_API heddle_status heddle_capture_end(heddle_stream *stream, heddle_graph **graph);
// Queues one run of the whole graph on the stream. A graph may be launched again while an earlier launch is queued.
HEDDLE_API heddle_status heddle_graph_launch(heddle_graph *graph, heddle_stream *stream);
HEDDLE_API heddle_status heddle_graph_destroy(heddle_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
