// Callers that wait: for a stream, for an event, for the whole device. A failure that waiting brings to light is
// reported in the caller's thread.

#include "base/futex.h"
#include "base/text.h"
#include "device/cpu/cpu.h"

// The device whose executor this thread is.
static _Thread_local const struct cpu_device *executor_of;

void heddle_cpu_enter_executor(const struct cpu_device *device)
{
    executor_of = device;
}

heddle_status heddle_cpu_may_wait(const struct cpu_device *device, const char *function)
{
    if (executor_of != device)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "%s: called from work on this same device, for which it would wait forever",
                       function);
}

// Takes the failure over and makes it this thread's last error. Locked.
static heddle_status report(struct cpu_failure *failure)
{
    if (!failure)
        return HEDDLE_OK;
    heddle_status status = heddle_fail(failure->status, "%s", failure->message);
    heddle_cpu_failure_release(failure);
    return status;
}

// Work that is about to end is not worth a sleep. The lock is not held meanwhile.
static void spin_for_stream(struct cpu_device *device, struct cpu_stream *stream, uint64_t ticket)
{
    if (device->caller_spin <= 0)
        return;
    heddle_cpu_unlock(device);
    double deadline = heddle_now() + device->caller_spin;
    while (atomic_load_explicit(&stream->completed, memory_order_acquire) < ticket && heddle_spin(deadline))
        continue;
    heddle_cpu_lock(device);
}

static void sleep_for_stream(struct cpu_device *device, struct cpu_stream *stream, uint64_t ticket)
{
    if (ticket < stream->wake_at)
        stream->wake_at = ticket;
    pthread_cond_wait(&device->progress, &device->lock);
}

void heddle_cpu_drain(struct cpu_stream *stream)
{
    struct cpu_device *device = cpu_stream_device(stream);
    uint64_t ticket = stream->submitted;
    if (!heddle_cpu_passed(stream, ticket))
        spin_for_stream(device, stream, ticket);
    while (!heddle_cpu_passed(stream, ticket))
        sleep_for_stream(device, stream, ticket);
}

heddle_status heddle_cpu_stream_synchronize(heddle_stream *stream_)
{
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    HEDDLE_TRY(heddle_cpu_may_wait(device, "heddle_stream_synchronize"));
    heddle_cpu_lock(device);
    heddle_status status;
    if (stream->capture) {
        status = heddle_cpu_capture_forbid(stream->capture, "heddle_stream_synchronize");
    } else {
        heddle_cpu_drain(stream);
        status = report(stream->failure);
        stream->failure = NULL;
    }
    heddle_cpu_unlock(device);
    return status;
}

// A stream with work up to `ticket` still to do, or NULL.
static struct cpu_stream *find_busy(const struct cpu_device *device, uint64_t ticket)
{
    struct cpu_stream *stream = device->streams;
    while (stream && heddle_cpu_passed(stream, ticket))
        stream = stream->next;
    return stream;
}

static struct cpu_failure *take_first_failure(struct cpu_device *device)
{
    struct cpu_stream *first = NULL;
    for (struct cpu_stream *stream = device->streams; stream; stream = stream->next)
        if (stream->failure && (!first || stream->failure->order < first->failure->order))
            first = stream;
    struct cpu_failure *failure = first ? first->failure : NULL;
    if (first)
        first->failure = NULL;
    return failure;
}

static heddle_status await_all(struct cpu_device *device)
{
    uint64_t ticket = device->tickets;
    struct cpu_stream *busy;
    // Looked up afresh after each sleep: another thread may have destroyed the stream meanwhile.
    while ((busy = find_busy(device, ticket)))
        sleep_for_stream(device, busy, ticket);
    return report(take_first_failure(device));
}

heddle_status heddle_cpu_synchronize(heddle_device *device_)
{
    struct cpu_device *device = cpu_device_of(device_);
    HEDDLE_TRY(heddle_cpu_may_wait(device, "heddle_device_synchronize"));
    heddle_cpu_lock(device);
    heddle_status status = HEDDLE_OK;
    for (struct cpu_capture *capture = device->captures; capture; capture = capture->next)
        status = heddle_cpu_capture_forbid(capture, "heddle_device_synchronize");
    if (status == HEDDLE_OK)
        status = await_all(device);
    heddle_cpu_unlock(device);
    return status;
}

heddle_status heddle_cpu_finish(heddle_device *device_)
{
    struct cpu_device *device = cpu_device_of(device_);
    heddle_cpu_lock(device);
    heddle_cpu_capture_abandon(device);
    heddle_status status = await_all(device);
    heddle_cpu_unlock(device);
    return status;
}

static void await_mark(struct cpu_device *device, struct cpu_mark *mark)
{
    if (!atomic_load_explicit(&mark->done, memory_order_acquire) && device->caller_spin > 0) {
        heddle_cpu_unlock(device);
        double deadline = heddle_now() + device->caller_spin;
        while (!atomic_load_explicit(&mark->done, memory_order_acquire) && heddle_spin(deadline))
            continue;
        heddle_cpu_lock(device);
    }
    while (!atomic_load_explicit(&mark->done, memory_order_acquire)) {
        mark->awaited = true;
        pthread_cond_wait(&device->progress, &device->lock);
    }
}

heddle_status heddle_cpu_event_synchronize(heddle_event *event_)
{
    struct cpu_event *event = (struct cpu_event *)event_;
    struct cpu_device *device = cpu_device_of(event->base.device);
    HEDDLE_TRY(heddle_cpu_may_wait(device, "heddle_event_synchronize"));
    heddle_cpu_lock(device);
    heddle_status status = heddle_cpu_event_is_real(event, "heddle_event_synchronize");
    struct cpu_mark *mark = event->mark;
    if (status == HEDDLE_OK && mark) {
        // Kept, for the event may be recorded anew meanwhile.
        mark->references++;
        await_mark(device, mark);
        status = report(heddle_cpu_failure_share(mark->failure));
        heddle_cpu_mark_release(device, mark);
    }
    heddle_cpu_unlock(device);
    return status;
}
