// Streams, events and graphs: arguments checked, then passed to the device's backend.

#include "device/backend.h"

static heddle_status null_argument(const char *function)
{
    return heddle_fail(HEDDLE_INVALID, "%s: NULL argument", function);
}

static heddle_status other_device(const char *function, const char *what)
{
    return heddle_fail(HEDDLE_INVALID, "%s: the %s belongs to another device than the stream", function, what);
}

// --- streams --------------------------------------------------------------------------------------------------------

heddle_status heddle_stream_create(heddle_device *device, int priority, heddle_stream **stream)
{
    return heddle_stream_create_kind(device, HEDDLE_STREAM_NON_BLOCKING, priority, stream);
}

heddle_status heddle_stream_create_kind(heddle_device *device, heddle_stream_kind kind, int priority,
                                        heddle_stream **stream)
{
    if (!device || !stream)
        return null_argument("heddle_stream_create");
    *stream = NULL;
    return device->backend->stream_create(device, kind, priority, stream);
}

static heddle_status no_native_stream(const heddle_device *device)
{
    return heddle_fail(HEDDLE_UNSUPPORTED, "streams of %s are heddle's own: there is none of another library",
                       heddle_device_kind_name(device->backend->kind));
}

heddle_status heddle_stream_wrap(heddle_device *device, void *native, heddle_stream **stream)
{
    if (!device || !stream)
        return null_argument(__func__);
    *stream = NULL;
    return device->backend->stream_wrap ? device->backend->stream_wrap(device, native, stream)
                                        : no_native_stream(device);
}

heddle_status heddle_stream_native(heddle_stream *stream, void **native)
{
    if (!stream || !native)
        return null_argument(__func__);
    *native = NULL;
    if (!stream->device->backend->stream_native)
        return no_native_stream(stream->device);
    *native = stream->device->backend->stream_native(stream);
    return HEDDLE_OK;
}

heddle_status heddle_stream_destroy(heddle_stream *stream)
{
    return stream ? stream->device->backend->stream_destroy(stream) : HEDDLE_OK;
}

heddle_device *heddle_stream_device(const heddle_stream *stream)
{
    return stream->device;
}

heddle_status heddle_stream_synchronize(heddle_stream *stream)
{
    return stream ? stream->device->backend->stream_synchronize(stream) : null_argument(__func__);
}

heddle_status heddle_stream_query(heddle_stream *stream, bool *done)
{
    if (!stream || !done)
        return null_argument(__func__);
    return stream->device->backend->stream_query(stream, done);
}

heddle_status heddle_copy(heddle_stream *stream, void *to, const void *from, size_t bytes)
{
    if (!stream)
        return null_argument(__func__);
    if (bytes == 0)
        return HEDDLE_OK;
    if (!to || !from)
        return heddle_fail(HEDDLE_INVALID, "heddle_copy: %zu bytes %s NULL", bytes, to ? "from" : "to");
    return stream->device->backend->copy(stream, to, from, bytes);
}

heddle_status heddle_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes)
{
    if (!stream)
        return null_argument(__func__);
    if (bytes == 0)
        return HEDDLE_OK;
    if (!memory)
        return heddle_fail(HEDDLE_INVALID, "heddle_fill: %zu bytes of NULL", bytes);
    return stream->device->backend->fill(stream, memory, value, bytes);
}

heddle_status heddle_stream_callback(heddle_stream *stream, heddle_host_function *function, void *context)
{
    if (!stream || !function)
        return null_argument(__func__);
    return stream->device->backend->callback(stream, function, context);
}

heddle_status heddle_stream_submit(heddle_stream *stream, heddle_work *work, const void *arguments, size_t size)
{
    if (!stream || !work || (!arguments && size > 0))
        return null_argument(__func__);
    if (!stream->device->backend->submit)
        return heddle_fail(HEDDLE_UNSUPPORTED, "a %s stream runs no host work",
                           heddle_device_kind_name(stream->device->backend->kind));
    return stream->device->backend->submit(stream, work, arguments, size);
}

// --- events ---------------------------------------------------------------------------------------------------------

heddle_status heddle_event_create(heddle_device *device, heddle_event **event)
{
    if (!device || !event)
        return null_argument(__func__);
    *event = NULL;
    return device->backend->event_create(device, event);
}

heddle_status heddle_event_destroy(heddle_event *event)
{
    return event ? event->device->backend->event_destroy(event) : HEDDLE_OK;
}

heddle_status heddle_event_record(heddle_event *event, heddle_stream *stream)
{
    if (!event || !stream)
        return null_argument(__func__);
    if (event->device != stream->device)
        return other_device(__func__, "event");
    return event->device->backend->event_record(event, stream);
}

heddle_status heddle_stream_wait(heddle_stream *stream, heddle_event *event)
{
    if (!stream || !event)
        return null_argument(__func__);
    if (event->device != stream->device)
        return other_device(__func__, "event");
    return stream->device->backend->stream_wait(stream, event);
}

heddle_status heddle_event_synchronize(heddle_event *event)
{
    return event ? event->device->backend->event_synchronize(event) : null_argument(__func__);
}

heddle_status heddle_event_query(heddle_event *event, bool *done)
{
    if (!event || !done)
        return null_argument(__func__);
    return event->device->backend->event_query(event, done);
}

heddle_status heddle_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds)
{
    if (!start || !end || !milliseconds)
        return null_argument(__func__);
    if (start->device != end->device)
        return heddle_fail(HEDDLE_INVALID, "%s: the events belong to different devices", __func__);
    return start->device->backend->event_elapsed(start, end, milliseconds);
}

// --- graphs ---------------------------------------------------------------------------------------------------------

heddle_status heddle_capture_begin(heddle_stream *stream)
{
    return stream ? stream->device->backend->capture_begin(stream) : null_argument(__func__);
}

heddle_status heddle_capture_end(heddle_stream *stream, heddle_graph **graph)
{
    if (!stream || !graph)
        return null_argument(__func__);
    *graph = NULL;
    return stream->device->backend->capture_end(stream, graph);
}

heddle_status heddle_graph_launch(heddle_graph *graph, heddle_stream *stream)
{
    if (!graph || !stream)
        return null_argument(__func__);
    if (graph->device != stream->device)
        return other_device(__func__, "graph");
    return graph->device->backend->graph_launch(graph, stream);
}

heddle_status heddle_graph_destroy(heddle_graph *graph)
{
    return graph ? graph->device->backend->graph_destroy(graph) : HEDDLE_OK;
}
