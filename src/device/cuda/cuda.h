// What the files of the CUDA backend share. The backend is written against the CUDA runtime API alone; nvcc makes the
// `cuda` device of it, the simulator's compiler the `sim` device.
#pragma once

#include <cuda_runtime.h>

#include "device/cuda/check.h"
#include "device/module.h"

// Set when the module is loaded: the library's way to record a failure.
extern const heddle_module_host *heddle_cuda_host;
#define heddle_cuda_fail(...) (heddle_cuda_host->fail(__VA_ARGS__))

typedef struct heddle_cuda_device {
    heddle_device base;
    int index;
    cudaMemPool_t pool;  // NULL where the card has none: then memory is the runtime's own
    cudaStream_t memory; // where the pool's work stands; nothing else does
} heddle_cuda_device;

typedef struct heddle_cuda_stream {
    heddle_stream base;
    cudaStream_t stream;
    bool capturing;
    bool borrowed; // the runtime's own default stream: not ours to destroy
    bool wrapped;  // another library's: not ours to wait for either
} heddle_cuda_stream;

typedef struct heddle_cuda_event {
    heddle_event base;
    cudaEvent_t event;
    bool recorded;
} heddle_cuda_event;

typedef struct heddle_cuda_graph {
    heddle_graph base;
    cudaGraphExec_t executable;
} heddle_cuda_graph;

// Makes the device current on this host thread; every backend function begins with it.
heddle_status heddle_cuda_select(const heddle_device *device);

// findings.cu
// Called once, when the module is loaded.
void heddle_cuda_watch(void);
// On sim, the gravest of what the simulator has found since this was last asked, as a failure; else HEDDLE_OK.
heddle_status heddle_cuda_findings(void);
// heddle_cuda_checked after waiting for the device: a finding is a failure too.
heddle_status heddle_cuda_waited(cudaError_t error, heddle_cuda_place place);
#define HEDDLE_CUDA_WAITED(call) heddle_cuda_waited((call), HEDDLE_CUDA_HERE(#call))

static inline int heddle_cuda_index(const heddle_device *device)
{
    return ((const heddle_cuda_device *)device)->index;
}
static inline cudaStream_t heddle_cuda_raw(const heddle_stream *stream)
{
    return ((const heddle_cuda_stream *)stream)->stream;
}

// describe.cu: what the card is.
heddle_status heddle_cuda_describe(heddle_device *device, heddle_device_info *info);
int heddle_cuda_properties(heddle_device *device, heddle_device_property *rows, int most);
int heddle_cuda_capability(void);
int heddle_cuda_shared_bytes(void);
heddle_status heddle_cuda_reset_cache(heddle_device *device);
heddle_status heddle_cuda_kept_cache(heddle_device *device, size_t *bytes);
// management.cu: what only the driver's management library knows. 0 and "" where there is none.
typedef struct heddle_cuda_management {
    double clock, memory_clock; // MHz, now
    char driver[32];            // "580.95.05"
} heddle_cuda_management;
void heddle_cuda_manage(const char *bus, heddle_cuda_management *now);
// measure.cu
heddle_status heddle_cuda_exercise(heddle_stream *stream, heddle_device_unit unit, void *memory, size_t bytes,
                                   double *amount);
// memory.cu
heddle_status heddle_cuda_pool_create(heddle_cuda_device *device);
void heddle_cuda_pool_destroy(heddle_cuda_device *device);
uint64_t heddle_cuda_pool_idle(const heddle_cuda_device *device); // bytes it holds that nobody uses
heddle_status heddle_cuda_alloc(heddle_device *device, size_t bytes, void **memory);
void heddle_cuda_free(heddle_device *device, void *memory, size_t bytes);
heddle_status heddle_cuda_alloc_pinned(heddle_device *device, size_t bytes, void **memory);
void heddle_cuda_free_pinned(heddle_device *device, void *memory, size_t bytes);
// vendors.cu: the modules of vendors' libraries.
void heddle_cuda_load_vendors(void); // once; what fails is told by the next
void heddle_cuda_missing(char *text, size_t size);

// stream.cu
heddle_status heddle_cuda_stream_create(heddle_device *device, heddle_stream_kind kind, int priority,
                                        heddle_stream **stream);
heddle_status heddle_cuda_stream_wrap(heddle_device *device, void *native, heddle_stream **stream);
void *heddle_cuda_stream_native(heddle_stream *stream);
heddle_status heddle_cuda_stream_destroy(heddle_stream *stream);
heddle_status heddle_cuda_stream_synchronize(heddle_stream *stream);
heddle_status heddle_cuda_stream_query(heddle_stream *stream, bool *done);
heddle_status heddle_cuda_stream_wait(heddle_stream *stream, heddle_event *event);
heddle_status heddle_cuda_copy(heddle_stream *stream, void *to, const void *from, size_t bytes);
heddle_status heddle_cuda_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes);
heddle_status heddle_cuda_callback(heddle_stream *stream, heddle_host_function *function, void *context);
// event.cu
heddle_status heddle_cuda_event_create(heddle_device *device, heddle_event **event);
heddle_status heddle_cuda_event_destroy(heddle_event *event);
heddle_status heddle_cuda_event_record(heddle_event *event, heddle_stream *stream);
heddle_status heddle_cuda_event_synchronize(heddle_event *event);
heddle_status heddle_cuda_event_query(heddle_event *event, bool *done);
heddle_status heddle_cuda_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds);
// graph.cu
heddle_status heddle_cuda_capture_begin(heddle_stream *stream);
heddle_status heddle_cuda_capture_end(heddle_stream *stream, heddle_graph **graph);
heddle_status heddle_cuda_graph_launch(heddle_graph *graph, heddle_stream *stream);
heddle_status heddle_cuda_graph_destroy(heddle_graph *graph);
