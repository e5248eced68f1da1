// Events: an event names the latest of its marks; each record makes a new one.

#include <stdlib.h>

#include "device/cpu/cpu.h"

heddle_status heddle_cpu_event_create(heddle_device *device_, heddle_event **event)
{
    struct cpu_device *device = cpu_device_of(device_);
    struct cpu_event *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an event");
    made->base.device = device_;
    heddle_cpu_lock(device);
    device->events++;
    heddle_cpu_unlock(device);
    *event = &made->base;
    return HEDDLE_OK;
}

heddle_status heddle_cpu_event_destroy(heddle_event *event_)
{
    struct cpu_event *event = (struct cpu_event *)event_;
    struct cpu_device *device = cpu_device_of(event->base.device);
    heddle_cpu_lock(device);
    device->events--;
    // Records and waits still queued keep the mark.
    heddle_cpu_mark_release(device, event->mark);
    heddle_cpu_unlock(device);
    free(event);
    return HEDDLE_OK;
}

static heddle_status record(struct cpu_device *device, struct cpu_event *event, struct cpu_stream *stream)
{
    HEDDLE_TRY(heddle_cpu_meet_default(stream));
    struct cpu_mark *mark = heddle_cpu_mark_create(device);
    if (!mark)
        return HEDDLE_OUT_OF_MEMORY;
    struct cpu_item *item = heddle_cpu_item_create(device, CPU_ITEM_RECORD);
    if (!item) {
        heddle_cpu_mark_release(device, mark);
        return HEDDLE_OUT_OF_MEMORY;
    }
    heddle_cpu_mark_release(device, event->mark);
    event->mark = mark;
    event->capture = 0;
    mark->references++;
    item->mark = mark;
    heddle_cpu_enqueue(stream, item);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_event_record(heddle_event *event_, heddle_stream *stream_)
{
    struct cpu_event *event = (struct cpu_event *)event_;
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_cpu_lock(device);
    heddle_status status = stream->capture ? heddle_cpu_capture_record(stream, event) : record(device, event, stream);
    heddle_cpu_unlock(device);
    return status;
}

static heddle_status wait_for_mark(struct cpu_device *device, struct cpu_stream *stream, struct cpu_mark *mark)
{
    if (!mark || atomic_load_explicit(&mark->done, memory_order_acquire))
        return HEDDLE_OK;
    struct cpu_item *item = heddle_cpu_item_create(device, CPU_ITEM_WAIT);
    if (!item)
        return HEDDLE_OUT_OF_MEMORY;
    mark->references++;
    item->mark = mark;
    heddle_cpu_enqueue(stream, item);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_stream_wait(heddle_stream *stream_, heddle_event *event_)
{
    struct cpu_event *event = (struct cpu_event *)event_;
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_cpu_lock(device);
    heddle_status status = stream->capture || event->capture ? heddle_cpu_capture_wait(stream, event)
                                                             : wait_for_mark(device, stream, event->mark);
    heddle_cpu_unlock(device);
    return status;
}

heddle_status heddle_cpu_event_is_real(struct cpu_event *event, const char *action)
{
    if (event->capture == 0)
        return HEDDLE_OK;
    struct cpu_capture *capture = heddle_cpu_capture_find(cpu_device_of(event->base.device), event->capture);
    if (capture)
        return heddle_cpu_capture_forbid(capture, action);
    return heddle_fail(HEDDLE_INVALID,
                       "%s: the event was last recorded in a capture, where it only orders: record it "
                       "again on a stream",
                       action);
}

heddle_status heddle_cpu_event_query(heddle_event *event_, bool *done)
{
    struct cpu_event *event = (struct cpu_event *)event_;
    struct cpu_device *device = cpu_device_of(event->base.device);
    heddle_cpu_lock(device);
    heddle_status status = heddle_cpu_event_is_real(event, "heddle_event_query");
    if (status == HEDDLE_OK)
        *done = !event->mark || atomic_load_explicit(&event->mark->done, memory_order_acquire);
    heddle_cpu_unlock(device);
    return status;
}

static heddle_status time_of(struct cpu_event *event, const char *which, double *time)
{
    HEDDLE_TRY(heddle_cpu_event_is_real(event, "heddle_event_elapsed"));
    if (!event->mark)
        return heddle_fail(HEDDLE_INVALID, "heddle_event_elapsed: the %s event was never recorded", which);
    if (!atomic_load_explicit(&event->mark->done, memory_order_acquire))
        return heddle_fail(HEDDLE_INVALID, "heddle_event_elapsed: the %s event has not happened yet: synchronise first",
                           which);
    *time = event->mark->time;
    return HEDDLE_OK;
}

heddle_status heddle_cpu_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds)
{
    struct cpu_device *device = cpu_device_of(start->device);
    double start_time = 0;
    double end_time = 0;
    heddle_cpu_lock(device);
    heddle_status status = time_of((struct cpu_event *)start, "start", &start_time);
    if (status == HEDDLE_OK)
        status = time_of((struct cpu_event *)end, "end", &end_time);
    heddle_cpu_unlock(device);
    if (status == HEDDLE_OK)
        *milliseconds = (end_time - start_time) * 1e3;
    return status;
}
