// Devices: where things run, and memory, streams, events and graphs on them, as in CUDA and behaving alike on every
// device. On `cpu` a stream is an in-order queue, and worker threads run what is at the head of each.
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
    int capability;      // 90 for sm_90; 0 on cpu
    uint64_t cache;      // bytes of the last-level cache; 0: not known
    double clock;        // MHz the processors run at now; 0: not known
    double memory_clock; // MHz
    double peak_flops;   // float32 a second at the highest clock, by count of the units; 0: not known
    char driver[32];     // versions: "580.95", "13.0"
    char runtime[32];
    bool unoptimised; // its kernels were built with HEDDLE_CUDA_OPTIMISE=off: their times mean nothing
} heddle_device_info;

// One row of what is known of a device: "shared memory a block", "232448 bytes".
typedef struct heddle_device_property {
    char name[48];
    char value[96];
} heddle_device_property;

// "cpu", "cuda", "sim".
HEDDLE_API const char *heddle_device_kind_name(heddle_device_kind kind);

// Opens "cpu", "cuda", "cuda:1", "sim"; `threads` is how many CPU threads operators use, 0 for one a core.
// A device that this machine or build lacks is HEDDLE_MISSING, with what to do.
HEDDLE_API heddle_status heddle_device_open(const char *name, int threads, heddle_device **device);
// Waits for all work on it. Streams, events, graphs and memory of the device must be gone before.
HEDDLE_API void heddle_device_close(heddle_device *device);
HEDDLE_API heddle_status heddle_device_describe(heddle_device *device, heddle_device_info *info);
// Everything that is known of it, a row each; returns how many rows there are, and fills at most `most`.
HEDDLE_API int heddle_device_properties(heddle_device *device, heddle_device_property *rows, int most);
HEDDLE_API heddle_device_kind heddle_device_get_kind(const heddle_device *device);
// Waits until everything queued on every stream has run; returns the first failure of any of it (see streams).
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
// are short, the stream with the lower priority number goes first. Priorities out of the device's range are clamped.
//
// When work fails, the work queued behind it on its stream is dropped, callbacks and graph launches included; events
// still happen, so nobody waits forever. The next synchronisation of the stream or device returns the failure's status
// and message, once; after that the stream takes work again. Synchronising with an event that stands behind a failure
// returns it too, and leaves it to be returned by the stream. Where several streams have failed, each synchronisation
// of the device returns one failure, in the order they happened.

HEDDLE_API heddle_status heddle_stream_create(heddle_device *device, int priority, heddle_stream **stream);
// How a stream stands to the device's default stream, the one that CUDA's work without a stream goes to. Work on the
// default stream waits for what was queued on blocking streams before it, and they wait for it.
typedef enum heddle_stream_kind {
    HEDDLE_STREAM_NON_BLOCKING, // has nothing to do with it: what heddle_stream_create makes
    HEDDLE_STREAM_BLOCKING,     // what cudaStreamCreate makes
    HEDDLE_STREAM_DEFAULT,      // the default stream itself; `priority` is not used
} heddle_stream_kind;
HEDDLE_API heddle_status heddle_stream_create_kind(heddle_device *device, heddle_stream_kind kind, int priority,
                                                   heddle_stream **stream);
// A stream over one that another library made, so that our work goes in order with its own: `native` is a cudaStream_t
// of this device, NULL being the default stream. It stays its maker's: heddle_stream_destroy frees what is made here,
// waits for nothing and leaves the other alone. HEDDLE_UNSUPPORTED on cpu, which has no such streams.
HEDDLE_API heddle_status heddle_stream_wrap(heddle_device *device, void *native, heddle_stream **stream);
// The other way: the cudaStream_t behind a stream, valid as long as the stream. HEDDLE_UNSUPPORTED on cpu.
HEDDLE_API heddle_status heddle_stream_native(heddle_stream *stream, void **native);
// Waits for the stream's work, then frees it; returns a failure that no synchronisation has returned yet.
HEDDLE_API heddle_status heddle_stream_destroy(heddle_stream *stream);
HEDDLE_API heddle_device *heddle_stream_device(const heddle_stream *stream);
HEDDLE_API heddle_status heddle_stream_synchronize(heddle_stream *stream);
// *done is true when nothing is queued or running.
HEDDLE_API heddle_status heddle_stream_query(heddle_stream *stream, bool *done);

// Queued; the memory must stay valid until the stream gets there. Any mix of host and device memory.
HEDDLE_API heddle_status heddle_copy(heddle_stream *stream, void *to, const void *from, size_t bytes);
HEDDLE_API heddle_status heddle_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes);
// Queues a host function. It must not call into the stream's own device (as in CUDA); waiting for the device there is
// HEDDLE_INVALID.
typedef void heddle_host_function(void *context);
HEDDLE_API heddle_status heddle_stream_callback(heddle_stream *stream, heddle_host_function *function, void *context);

// --- events ---------------------------------------------------------------------------------------------------------

HEDDLE_API heddle_status heddle_event_create(heddle_device *device, heddle_event **event);
HEDDLE_API heddle_status heddle_event_destroy(heddle_event *event);
// Marks this point of the stream. Recording again moves the mark; who waits for the earlier one goes on waiting for it.
HEDDLE_API heddle_status heddle_event_record(heddle_event *event, heddle_stream *stream);
// Work queued on `stream` from now on waits for the event's latest record (none yet: does not wait).
HEDDLE_API heddle_status heddle_stream_wait(heddle_stream *stream, heddle_event *event);
HEDDLE_API heddle_status heddle_event_synchronize(heddle_event *event);
HEDDLE_API heddle_status heddle_event_query(heddle_event *event, bool *done);
// Time between two events that have both happened; HEDDLE_INVALID if one has not.
HEDDLE_API heddle_status heddle_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds);

// --- graphs ---------------------------------------------------------------------------------------------------------

// Between begin and end, work given to the stream is recorded, not run. Another stream joins the capture by waiting for
// an event recorded in it; its work has to lead back, through an event that the first stream waits for, before the end.
// Synchronising or querying a stream or event in a capture, destroying such a stream, or synchronising the device is
// HEDDLE_INVALID and the capture is lost: its streams refuse work until heddle_capture_end, which returns
// HEDDLE_INVALID with the reason. An event recorded in a capture orders work there, and has no time and cannot be
// waited for outside.
HEDDLE_API heddle_status heddle_capture_begin(heddle_stream *stream);
HEDDLE_API heddle_status heddle_capture_end(heddle_stream *stream, heddle_graph **graph);
// Queues one run of the whole graph on the stream. A graph may be launched again while an earlier launch is queued: its
// runs follow each other. Inside a capture it is HEDDLE_UNSUPPORTED on cpu.
HEDDLE_API heddle_status heddle_graph_launch(heddle_graph *graph, heddle_stream *stream);
// Launches still queued run to their end.
HEDDLE_API heddle_status heddle_graph_destroy(heddle_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
