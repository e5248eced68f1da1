// What the files of the CUDA backend share. The backend is written against the CUDA runtime API alone; nvcc makes the
// `cuda` device of it, the simulator's compiler the `sim` device.
#ifndef HEDDLE_DEVICE_CUDA_H
#define HEDDLE_DEVICE_CUDA_H

#include <cuda_runtime.h>

#include "device/module.h"

// Set when the module is loaded: the library's way to record a failure.
extern const heddle_module_host *heddle_cuda_host;
#define heddle_cuda_fail(...) (heddle_cuda_host->fail(__VA_ARGS__))

typedef struct heddle_cuda_device {
    heddle_device base;
    int index;
} heddle_cuda_device;

typedef struct heddle_cuda_stream {
    heddle_stream base;
    cudaStream_t stream;
    bool capturing;
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

// HEDDLE_OK, or the failure with the call's name, CUDA's own name for it and what it says.
heddle_status heddle_cuda_status(cudaError_t error, const char *call);
// Makes the device current on this host thread; every backend function begins with it.
heddle_status heddle_cuda_select(const heddle_device *device);

// findings.cu
// Called once, when the module is loaded.
void heddle_cuda_watch(void);
// On sim, the gravest of what the simulator has found since this was last asked, as a failure; else HEDDLE_OK.
heddle_status heddle_cuda_findings(void);
// heddle_cuda_status after waiting for the device: a finding is a failure too.
heddle_status heddle_cuda_waited(cudaError_t error, const char *call);

#define HEDDLE_CUDA_TRY(call) HEDDLE_TRY(heddle_cuda_status((call), #call))

static inline int heddle_cuda_index(const heddle_device *device)
{
    return ((const heddle_cuda_device *)device)->index;
}
static inline cudaStream_t heddle_cuda_raw(const heddle_stream *stream)
{
    return ((const heddle_cuda_stream *)stream)->stream;
}

// stream.cu
heddle_status heddle_cuda_stream_create(heddle_device *device, int priority, heddle_stream **stream);
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

#endif
