// Streams: made, given work and graphs, destroyed.

#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu.h"

heddle_status heddle_cpu_stream_create(heddle_device *device_, heddle_stream_kind kind, int priority,
                                       heddle_stream **stream)
{
    struct cpu_device *device = cpu_device_of(device_);
    struct cpu_stream *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a stream");
    // Out of range is clamped, as in CUDA.
    if (priority < CPU_PRIORITY_GREATEST)
        priority = CPU_PRIORITY_GREATEST;
    if (priority > CPU_PRIORITY_LEAST)
        priority = CPU_PRIORITY_LEAST;
    made->base.device = device_;
    made->kind = kind;
    made->level = priority - CPU_PRIORITY_GREATEST;
    made->wake_at = UINT64_MAX;
    heddle_cpu_lock(device);
    made->next = device->streams;
    if (device->streams)
        device->streams->previous = made;
    device->streams = made;
    heddle_cpu_unlock(device);
    *stream = &made->base;
    return HEDDLE_OK;
}

void heddle_cpu_stream_free(struct cpu_stream *stream)
{
    struct cpu_device *device = cpu_stream_device(stream);
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        device->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    heddle_cpu_failure_release(stream->failure);
    free(stream);
}

heddle_status heddle_cpu_stream_destroy(heddle_stream *stream_)
{
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    HEDDLE_TRY(heddle_cpu_may_wait(device, "heddle_stream_destroy"));
    heddle_cpu_lock(device);
    heddle_status status = HEDDLE_OK;
    if (stream->capture) {
        status = heddle_cpu_capture_forbid(stream->capture, "heddle_stream_destroy");
    } else {
        heddle_cpu_drain(stream);
        if (stream->failure)
            status = heddle_fail(stream->failure->status, "%s", stream->failure->message);
        heddle_cpu_stream_free(stream);
    }
    heddle_cpu_unlock(device);
    return status;
}

heddle_status heddle_cpu_stream_query(heddle_stream *stream_, bool *done)
{
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_status status = HEDDLE_OK;
    heddle_cpu_lock(device);
    if (stream->capture)
        status = heddle_cpu_capture_forbid(stream->capture, "heddle_stream_query");
    else
        *done = !stream->head;
    heddle_cpu_unlock(device);
    return status;
}

static heddle_status queue_work(struct cpu_stream *stream, heddle_work *work, const void *arguments, size_t size)
{
    struct cpu_device *device = cpu_stream_device(stream);
    HEDDLE_TRY(heddle_cpu_meet_default(stream));
    struct cpu_item *item = heddle_cpu_item_create(device, CPU_ITEM_WORK);
    if (!item)
        return HEDDLE_OUT_OF_MEMORY;
    if (!heddle_cpu_item_set_work(item, work, arguments, size)) {
        heddle_cpu_item_release(device, item);
        return HEDDLE_OUT_OF_MEMORY;
    }
    heddle_cpu_enqueue(stream, item);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_submit(heddle_stream *stream_, heddle_work *work, const void *arguments, size_t size)
{
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_cpu_lock(device);
    heddle_status status = stream->capture ? heddle_cpu_capture_work(stream, work, arguments, size)
                                           : queue_work(stream, work, arguments, size);
    heddle_cpu_unlock(device);
    return status;
}

heddle_status heddle_cpu_graph_launch(heddle_graph *graph_, heddle_stream *stream_)
{
    struct cpu_graph *graph = (struct cpu_graph *)graph_;
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_status status = HEDDLE_OK;
    heddle_cpu_lock(device);
    if (stream->capture) {
        heddle_cpu_capture_forbid(stream->capture, "heddle_graph_launch");
        status = heddle_fail(HEDDLE_UNSUPPORTED, "heddle_graph_launch: a graph inside another is not supported on cpu: "
                                                 "launch it after heddle_capture_end");
    } else if ((status = heddle_cpu_meet_default(stream)) == HEDDLE_OK) {
        struct cpu_item *item = heddle_cpu_item_create(device, CPU_ITEM_GRAPH);
        if (item) {
            item->graph = graph;
            graph->references++;
            heddle_cpu_enqueue(stream, item);
        } else {
            status = HEDDLE_OUT_OF_MEMORY;
        }
    }
    heddle_cpu_unlock(device);
    return status;
}

heddle_status heddle_cpu_graph_destroy(heddle_graph *graph_)
{
    struct cpu_graph *graph = (struct cpu_graph *)graph_;
    struct cpu_device *device = cpu_device_of(graph->base.device);
    heddle_cpu_lock(device);
    device->graphs--;
    // Launches still queued keep it until they are done.
    heddle_cpu_graph_release(graph);
    heddle_cpu_unlock(device);
    return HEDDLE_OK;
}

// --- work of the device's own ---------------------------------------------------------------------------------------

struct copy_arguments {
    void *to;
    const void *from;
    size_t bytes;
};

static heddle_status copy_work(const void *arguments)
{
    const struct copy_arguments *copy = arguments;
    memmove(copy->to, copy->from, copy->bytes);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_copy(heddle_stream *stream, void *to, const void *from, size_t bytes)
{
    struct copy_arguments copy = {.to = to, .from = from, .bytes = bytes};
    return heddle_cpu_submit(stream, copy_work, &copy, sizeof copy);
}

struct fill_arguments {
    void *memory;
    size_t bytes;
    uint8_t value;
};

static heddle_status fill_work(const void *arguments)
{
    const struct fill_arguments *fill = arguments;
    memset(fill->memory, fill->value, fill->bytes);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes)
{
    struct fill_arguments fill = {.memory = memory, .bytes = bytes, .value = value};
    return heddle_cpu_submit(stream, fill_work, &fill, sizeof fill);
}

struct callback_arguments {
    heddle_host_function *function;
    void *context;
};

static heddle_status callback_work(const void *arguments)
{
    const struct callback_arguments *callback = arguments;
    callback->function(callback->context);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_callback(heddle_stream *stream, heddle_host_function *function, void *context)
{
    struct callback_arguments callback = {.function = function, .context = context};
    return heddle_cpu_submit(stream, callback_work, &callback, sizeof callback);
}
