// The default stream, as CUDA has it: what is queued on it waits for all that was queued on blocking streams before,
// and what is queued on a blocking stream waits for what was queued on it. Done by marks and waits in the streams
// themselves, so that scheduling knows nothing of it.

#include "device/cpu/cpu.h"

static bool are_ordered(const struct cpu_stream *one, const struct cpu_stream *other)
{
    return one != other && one->kind != HEDDLE_STREAM_NON_BLOCKING && other->kind != HEDDLE_STREAM_NON_BLOCKING &&
           (one->kind == HEDDLE_STREAM_DEFAULT || other->kind == HEDDLE_STREAM_DEFAULT);
}

// What is queued on `later` from now on comes after all that is queued on `earlier`.
static heddle_status wait_for_stream(struct cpu_stream *later, struct cpu_stream *earlier)
{
    struct cpu_device *device = cpu_stream_device(later);
    struct cpu_mark *mark = heddle_cpu_mark_create(device);
    struct cpu_item *record = mark ? heddle_cpu_item_create(device, CPU_ITEM_RECORD) : NULL;
    struct cpu_item *wait = record ? heddle_cpu_item_create(device, CPU_ITEM_WAIT) : NULL;
    if (!wait) {
        if (record)
            heddle_cpu_item_release(device, record);
        heddle_cpu_mark_release(device, mark);
        return HEDDLE_OUT_OF_MEMORY;
    }
    record->mark = wait->mark = mark;
    mark->references++; // each item holds one
    heddle_cpu_enqueue(earlier, record);
    heddle_cpu_enqueue(later, wait);
    return HEDDLE_OK;
}

heddle_status heddle_cpu_meet_default(struct cpu_stream *stream)
{
    if (stream->kind == HEDDLE_STREAM_NON_BLOCKING)
        return HEDDLE_OK;
    for (struct cpu_stream *other = cpu_stream_device(stream)->streams; other; other = other->next) {
        if (!are_ordered(stream, other))
            continue;
        if (other->capture)
            return heddle_cpu_capture_forbid(other->capture, "work on the default stream");
        if (other->head)
            HEDDLE_TRY(wait_for_stream(stream, other));
    }
    return HEDDLE_OK;
}
