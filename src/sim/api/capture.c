// Stream capture: while it is on, what a stream is asked to do becomes a node of a graph. Other streams are drawn in
// when they wait for an event of the capture, and must be joined to the first one again before it ends.
#include "api/capture.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/event.h"
#include "api/graph.h"

static sim_capture *captures; // the open ones
static unsigned long long capture_count;
static __thread enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// --- sets of nodes --------------------------------------------------------------------------------------------------

static void set_after(cudaGraphNode_t **set, size_t *count, const cudaGraphNode_t *nodes, size_t node_count)
{
    cudaGraphNode_t *copy = malloc((node_count + 1) * sizeof *copy);
    if (copy == NULL) {
        sim_no_memory();
        return;
    }
    if (node_count > 0)
        memcpy(copy, nodes, node_count * sizeof *copy);
    free(*set);
    *set = copy;
    *count = node_count;
}

static void add_after(struct CUstream_st *stream, cudaGraphNode_t node)
{
    for (size_t i = 0; i < stream->capture_after_count; i++) {
        if (stream->capture_after[i] == node)
            return;
    }
    cudaGraphNode_t *larger =
        realloc(stream->capture_after, (stream->capture_after_count + 1) * sizeof(cudaGraphNode_t));
    if (larger == NULL) {
        sim_no_memory();
        return;
    }
    stream->capture_after = larger;
    stream->capture_after[stream->capture_after_count++] = node;
}

// --- what goes into the graph ---------------------------------------------------------------------------------------

cudaError_t sim_capture_add(struct CUstream_st *stream, sim_work *work)
{
    if (stream->capture->invalid) {
        sim_work_release(work);
        return sim_fail(cudaErrorStreamCaptureInvalidated, "the capture was spoilt by an earlier error");
    }
    if (work->kind == SIM_WORK_NOTHING)
        return cudaSuccess;
    const cudaError_t error =
        work->kind == SIM_WORK_FREE ? sim_graph_free_check(stream->capture->graph, work->memory) : cudaSuccess;
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node = sim_graph_add(stream->capture->graph, sim_graph_type_of(work), stream->capture_after,
                                                stream->capture_after_count);
    if (node == NULL) {
        sim_work_release(work);
        return cudaErrorInvalidValue;
    }
    node->work = *work;
    if (work->kind == SIM_WORK_FREE)
        node->allocation.dptr = work->memory;
    if (work->kind == SIM_WORK_KERNEL) {
        const sim_config *config = &work->kernel.config;
        node->kernel = (struct cudaKernelNodeParams){
            .func = (void *)(uintptr_t)work->kernel.bound->kernel.function,
            .gridDim = {config->grid.x, config->grid.y, config->grid.z},
            .blockDim = {config->block.x, config->block.y, config->block.z},
            .sharedMemBytes = (unsigned)config->shared,
        };
    }
    set_after(&stream->capture_after, &stream->capture_after_count, &node, 1);
    return cudaSuccess;
}

cudaError_t sim_capture_allocation(struct CUstream_st *stream, void *memory, size_t bytes)
{
    struct CUgraphNode_st *node = sim_graph_add(stream->capture->graph, cudaGraphNodeTypeMemAlloc,
                                                stream->capture_after, stream->capture_after_count);
    if (node == NULL)
        return cudaErrorInvalidValue;
    node->work = sim_work_new(SIM_WORK_ALLOCATE);
    node->work.allocation.memory = memory;
    node->allocation.dptr = memory;
    node->allocation.bytesize = bytes;
    set_after(&stream->capture_after, &stream->capture_after_count, &node, 1);
    return cudaSuccess;
}

bool sim_capture_global(void)
{
    for (const sim_capture *capture = captures; capture != NULL; capture = capture->next) {
        if (capture->mode != cudaStreamCaptureModeRelaxed && thread_mode != cudaStreamCaptureModeRelaxed)
            return true;
    }
    return false;
}

void sim_capture_invalidate_all(void)
{
    for (sim_capture *capture = captures; capture != NULL; capture = capture->next)
        capture->invalid = true;
}

cudaError_t sim_capture_refuse(struct CUstream_st *stream)
{
    stream->capture->invalid = true;
    return sim_fail(cudaErrorStreamCaptureUnsupported, "the stream is capturing a graph: nothing in it runs yet");
}

void sim_capture_record(struct CUstream_st *stream, cudaEvent_t event)
{
    event->capture = stream->capture;
    set_after(&event->capture_after, &event->capture_after_count, stream->capture_after, stream->capture_after_count);
}

cudaError_t sim_capture_wait(struct CUstream_st *stream, cudaEvent_t event)
{
    if (event->capture == NULL && !event->recorded)
        return cudaSuccess;
    if (event->capture == NULL) {
        stream->capture->invalid = true;
        return sim_fail(cudaErrorStreamCaptureIsolation,
                        "the stream is capturing a graph, and the event was recorded outside of it");
    }
    if (stream == sim_stream_legacy())
        return sim_fail(cudaErrorStreamCaptureImplicit, "the legacy default stream cannot be captured");
    if (stream->capture != NULL && stream->capture != event->capture) {
        stream->capture->invalid = event->capture->invalid = true;
        return sim_fail(cudaErrorStreamCaptureMerge, "stream and event belong to two captures");
    }
    stream->capture = event->capture;
    for (size_t i = 0; i < event->capture_after_count; i++)
        add_after(stream, event->capture_after[i]);
    return cudaSuccess;
}

// --- begin and end --------------------------------------------------------------------------------------------------

static cudaError_t begin(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                         enum cudaStreamCaptureMode mode)
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (stream == sim_stream_legacy())
        return sim_fail(cudaErrorStreamCaptureUnsupported,
                        "the legacy default stream cannot be captured: create a stream for it");
    if (stream->capture != NULL)
        return sim_fail(cudaErrorIllegalState, "the stream is capturing already");
    sim_capture *capture = calloc(1, sizeof *capture);
    if (capture == NULL)
        return sim_no_memory();
    capture->owns_graph = graph == NULL;
    capture->graph = graph != NULL ? graph : sim_graph_new();
    if (capture->graph == NULL) {
        free(capture);
        return cudaErrorMemoryAllocation;
    }
    capture->id = ++capture_count;
    capture->origin = stream;
    capture->mode = mode;
    capture->next = captures;
    captures = capture;
    stream->capture = capture;
    set_after(&stream->capture_after, &stream->capture_after_count, after, count);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return SIM_CALL(begin(stream, NULL, NULL, 0, mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode)
{
    (void)edges;
    return SIM_CALL(sim_graph_of(graph) == NULL ? cudaErrorInvalidValue
                                                : begin(stream, graph, dependencies, count, mode));
}

// Marks a node and all that it comes after.
static void mark_back(struct CUgraphNode_st *node)
{
    if (node->mark != 0)
        return;
    node->mark = 1;
    for (size_t i = 0; i < node->after_count; i++)
        mark_back(node->after[i]);
}

// Marks what comes before the end of the first stream.
static void mark_joined(const sim_capture *capture)
{
    for (size_t i = 0; i < capture->graph->count; i++)
        capture->graph->nodes[i]->mark = 0;
    for (size_t i = 0; i < capture->origin->capture_after_count; i++)
        mark_back(capture->origin->capture_after[i]);
}

// Whether the last nodes of the stream are marked.
static bool is_joined(const struct CUstream_st *stream)
{
    for (size_t i = 0; i < stream->capture_after_count; i++)
        if (stream->capture_after[i]->mark == 0)
            return false;
    return true;
}

static bool all_joined(const sim_capture *capture)
{
    mark_joined(capture);
    for (const struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next)
        if (stream->capture == capture && !is_joined(stream))
            return false;
    return true;
}

bool sim_capture_leave(struct CUstream_st *stream)
{
    if (stream == stream->capture->origin)
        return false;
    mark_joined(stream->capture);
    if (!is_joined(stream))
        return false;
    stream->capture = NULL;
    stream->capture_after_count = 0;
    return true;
}

static void close_capture(sim_capture *capture)
{
    sim_capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next) {
        if (stream->capture == capture) {
            stream->capture = NULL;
            stream->capture_after_count = 0;
        }
    }
    sim_events_leave(capture);
    free(capture);
}

SIM_API(cudaStreamEndCapture, (cudaStream_t handle, cudaGraph_t *graph), (handle, graph))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    sim_capture *capture = stream->capture;
    cudaGraph_t unwanted = NULL; // of a capture into a graph that the program has already
    if (graph == NULL && (capture == NULL || capture->owns_graph))
        return sim_fail(cudaErrorInvalidValue, "the output argument for the graph is NULL");
    graph = graph != NULL ? graph : &unwanted;
    *graph = NULL;
    if (capture == NULL)
        return sim_fail(cudaErrorIllegalState, "the stream is not capturing");
    if (capture->origin != stream)
        return sim_fail(cudaErrorStreamCaptureUnmatched, "the capture began in another stream");
    cudaError_t error = cudaSuccess;
    if (capture->invalid)
        error = sim_fail(cudaErrorStreamCaptureInvalidated, "the capture was spoilt by an earlier error");
    else if (!all_joined(capture))
        error = sim_fail(cudaErrorStreamCaptureUnjoined,
                         "a stream that was drawn into the capture is not joined again: record an event in it and let "
                         "the first stream wait for that");
    if (error == cudaSuccess)
        *graph = capture->graph;
    else if (capture->owns_graph)
        sim_graph_delete(capture->graph);
    close_capture(capture);
    return error;
}

// --- asking ---------------------------------------------------------------------------------------------------------

static enum cudaStreamCaptureStatus status_of(const struct CUstream_st *stream)
{
    if (stream->capture == NULL)
        return cudaStreamCaptureStatusNone;
    return stream->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

SIM_API(cudaStreamIsCapturing, (cudaStream_t handle, enum cudaStreamCaptureStatus *status), (handle, status))
{
    const struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *status = status_of(stream);
    return cudaSuccess;
}

static cudaError_t capture_info(cudaStream_t handle, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    const struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    *status = status_of(stream);
    if (stream->capture == NULL)
        return cudaSuccess;
    if (id != NULL)
        *id = stream->capture->id;
    if (graph != NULL)
        *graph = stream->capture->graph;
    if (dependencies != NULL)
        *dependencies = stream->capture_after;
    if (count != NULL)
        *count = stream->capture_after_count;
    return cudaSuccess;
}

cudaError_t sim_stream_capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                    cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    return SIM_CALL_AS("cudaStreamGetCaptureInfo", capture_info(stream, status, id, graph, dependencies, count));
}

static cudaError_t update_capture(cudaStream_t handle, cudaGraphNode_t *dependencies, size_t count, unsigned flags)
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (stream->capture == NULL)
        return sim_fail(cudaErrorIllegalState, "the stream is not capturing");
    if (flags == cudaStreamSetCaptureDependencies)
        stream->capture_after_count = 0;
    for (size_t i = 0; i < count; i++)
        add_after(stream, dependencies[i]);
    return cudaSuccess;
}

cudaError_t sim_stream_update_capture(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count,
                                      unsigned int flags)
{
    return SIM_CALL_AS("cudaStreamUpdateCaptureDependencies", update_capture(stream, dependencies, count, flags));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    const enum cudaStreamCaptureMode previous = thread_mode;
    thread_mode = *mode;
    *mode = previous;
    return SIM_CALL(cudaSuccess);
}
