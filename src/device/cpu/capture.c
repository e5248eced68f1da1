// Capture: while a stream records, what is given to it becomes a node of a graph. Each stream in the capture keeps its
// frontier, the last node on it; an event recorded there remembers that node, and a stream that waits for the event
// joins the capture behind it. Where a stream has two things to wait for, a join node stands for both.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cpu/cpu.h"

struct cpu_capture *heddle_cpu_capture_find(struct cpu_device *device, uint64_t number)
{
    struct cpu_capture *capture = device->captures;
    while (capture && capture->number != number)
        capture = capture->next;
    return capture;
}

static void HEDDLE_PRINTF(2, 3) invalidate(struct cpu_capture *capture, const char *format, ...)
{
    // The first reason is the one that explains the rest.
    if (capture->invalid)
        return;
    capture->invalid = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(capture->reason, sizeof capture->reason, format, arguments);
    va_end(arguments);
}

heddle_status heddle_cpu_capture_forbid(struct cpu_capture *capture, const char *action)
{
    invalidate(capture, "%s was called during it", action);
    return heddle_fail(HEDDLE_INVALID, "%s: not during a capture, which is lost now: call heddle_capture_end first",
                       action);
}

static heddle_status check_valid(const struct cpu_capture *capture)
{
    if (!capture->invalid)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "the stream's capture is lost (%s): call heddle_capture_end", capture->reason);
}

// --- recording ------------------------------------------------------------------------------------------------------

static heddle_status out_of_memory(struct cpu_capture *capture)
{
    invalidate(capture, "there was no memory for it");
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to capture a graph");
}

heddle_status heddle_cpu_capture_work(struct cpu_stream *stream, heddle_work *work, const void *arguments, size_t size)
{
    struct cpu_capture *capture = stream->capture;
    HEDDLE_TRY(check_valid(capture));
    struct cpu_node *node = heddle_cpu_graph_append(capture->graph);
    if (!node || !heddle_cpu_item_set_work(&node->item, work, arguments, size))
        return out_of_memory(capture);
    node->item.kind = CPU_ITEM_WORK;
    node->item.level = stream->level;
    if (stream->frontier != CPU_NO_NODE)
        heddle_cpu_graph_add_dependency(node, stream->frontier);
    stream->frontier = capture->graph->count - 1;
    return HEDDLE_OK;
}

heddle_status heddle_cpu_capture_record(struct cpu_stream *stream, struct cpu_event *event)
{
    HEDDLE_TRY(check_valid(stream->capture));
    heddle_cpu_mark_release(cpu_stream_device(stream), event->mark);
    event->mark = NULL;
    event->capture = stream->capture->number;
    event->node = stream->frontier;
    return HEDDLE_OK;
}

static heddle_status join(struct cpu_stream *stream, int node_index)
{
    struct cpu_capture *capture = stream->capture;
    if (node_index == CPU_NO_NODE || node_index == stream->frontier)
        return HEDDLE_OK;
    if (stream->frontier == CPU_NO_NODE) {
        stream->frontier = node_index;
        return HEDDLE_OK;
    }
    struct cpu_node *node = heddle_cpu_graph_append(capture->graph);
    if (!node)
        return out_of_memory(capture);
    node->item.kind = CPU_ITEM_JOIN;
    heddle_cpu_graph_add_dependency(node, stream->frontier);
    heddle_cpu_graph_add_dependency(node, node_index);
    stream->frontier = capture->graph->count - 1;
    return HEDDLE_OK;
}

heddle_status heddle_cpu_capture_wait(struct cpu_stream *stream, struct cpu_event *event)
{
    if (event->capture == 0) {
        if (!event->mark)
            return HEDDLE_OK; // never recorded
        invalidate(stream->capture, "its stream waited for an event recorded outside of it");
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_stream_wait: the stream is capturing and the event was recorded "
                           "outside of the capture, which is lost now: wait before heddle_capture_begin");
    }
    struct cpu_capture *capture = heddle_cpu_capture_find(cpu_stream_device(stream), event->capture);
    if (!capture) {
        if (stream->capture)
            invalidate(stream->capture, "its stream waited for an event of an earlier capture");
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_stream_wait: the event was last recorded in a capture that has ended: "
                           "record it again");
    }
    if (stream->capture && stream->capture != capture) {
        invalidate(stream->capture, "its stream waited for an event of another capture");
        invalidate(capture, "another capture waited for an event of it");
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_stream_wait: the event is of another capture than the stream's: both "
                           "are lost now");
    }
    HEDDLE_TRY(check_valid(capture));
    if (!stream->capture) {
        stream->capture = capture;
        stream->frontier = CPU_NO_NODE;
    }
    return join(stream, event->node);
}

// --- beginning and ending -------------------------------------------------------------------------------------------

static heddle_status begin(struct cpu_device *device, struct cpu_stream *stream)
{
    if (stream->capture)
        return heddle_fail(HEDDLE_INVALID, "heddle_capture_begin: the stream is capturing already");
    struct cpu_capture *capture = calloc(1, sizeof *capture);
    struct cpu_graph *graph = heddle_cpu_graph_create(device);
    if (!capture || !graph) {
        free(graph);
        free(capture);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to capture a graph");
    }
    capture->number = ++device->captures_begun;
    capture->origin = stream;
    capture->graph = graph;
    capture->next = device->captures;
    device->captures = capture;
    stream->capture = capture;
    stream->frontier = CPU_NO_NODE;
    return HEDDLE_OK;
}

heddle_status heddle_cpu_capture_begin(heddle_stream *stream_)
{
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_cpu_lock(device);
    heddle_status status = begin(device, stream);
    heddle_cpu_unlock(device);
    return status;
}

// Work from which no chain of dependencies leads to the last node of the stream that began the capture.
static int count_unjoined(struct cpu_graph *graph, int last)
{
    // Dependencies are earlier nodes, so one pass backwards reaches all. `pending` is free until the first launch.
    int unjoined = 0;
    for (int i = 0; i < graph->count; i++)
        graph->nodes[i].pending = i == last;
    for (int i = graph->count - 1; i >= 0; i--) {
        const struct cpu_node *node = &graph->nodes[i];
        for (int d = 0; node->pending && d < node->dependency_count; d++)
            graph->nodes[node->dependencies[d]].pending = true;
        unjoined += !node->pending && node->item.kind == CPU_ITEM_WORK;
    }
    return unjoined;
}

static void detach(struct cpu_device *device, struct cpu_capture *capture)
{
    for (struct cpu_stream *stream = device->streams; stream; stream = stream->next)
        if (stream->capture == capture)
            stream->capture = NULL;
    struct cpu_capture **link = &device->captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
}

void heddle_cpu_capture_abandon(struct cpu_device *device)
{
    while (device->captures) {
        struct cpu_capture *capture = device->captures;
        detach(device, capture);
        heddle_cpu_graph_release(capture->graph);
        free(capture);
    }
}

static heddle_status end(struct cpu_device *device, struct cpu_stream *stream, struct cpu_graph **graph)
{
    struct cpu_capture *capture = stream->capture;
    if (!capture)
        return heddle_fail(HEDDLE_INVALID, "heddle_capture_end: the stream is not capturing");
    if (capture->origin != stream)
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_capture_end: the stream only joined this capture: end it on the stream "
                           "that began it");
    detach(device, capture);
    heddle_status status = HEDDLE_OK;
    int unjoined = count_unjoined(capture->graph, stream->frontier);
    if (capture->invalid)
        status = heddle_fail(HEDDLE_INVALID, "heddle_capture_end: the capture was lost: %s", capture->reason);
    else if (unjoined > 0)
        status =
            heddle_fail(HEDDLE_INVALID,
                        "heddle_capture_end: %d captured operation%s on a stream that joined never rejoined: record "
                        "an event there and let the first stream wait for it",
                        unjoined, unjoined == 1 ? "" : "s");
    if (status == HEDDLE_OK) {
        *graph = capture->graph;
        device->graphs++;
    } else {
        heddle_cpu_graph_release(capture->graph);
    }
    free(capture);
    return status;
}

heddle_status heddle_cpu_capture_end(heddle_stream *stream_, heddle_graph **graph)
{
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    struct cpu_graph *captured = NULL;
    heddle_cpu_lock(device);
    heddle_status status = end(device, stream, &captured);
    heddle_cpu_unlock(device);
    if (status == HEDDLE_OK)
        *graph = &captured->base;
    return status;
}
