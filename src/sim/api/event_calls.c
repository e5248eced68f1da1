// The runtime API's functions for events.
#include <stdio.h>
#include <stdlib.h>

#include "api/call.h"
#include "api/capture.h"
#include "api/event.h"
#include "api/run.h"
#include "report/report.h"

static cudaError_t create(cudaEvent_t *event, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the event is NULL");
    if (flags & ~known)
        return sim_fail(cudaErrorInvalidValue, "0x%x is not a flag of an event", flags);
    // A destroyed one that nothing refers to any more is taken again: programs make events in loops.
    struct CUevent_st *made = NULL;
    for (struct CUevent_st *old = sim_events; old != NULL && made == NULL; old = old->next) {
        if (!old->live && (old->operation == NULL || old->operation->done))
            made = old;
    }
    if (made == NULL) {
        made = calloc(1, sizeof *made);
        if (made == NULL)
            return sim_no_memory();
        made->next = sim_events;
        sim_events = made;
    }
    if (made->operation != NULL)
        sim_operation_release(made->operation);
    sim_order_clear(&made->clock);
    made->operation = NULL;
    made->recorded = false;
    made->capture = NULL;
    made->flags = flags;
    made->live = true;
    *event = made;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return SIM_CALL(create(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return SIM_CALL(create(event, flags));
}

SIM_API(cudaEventDestroy, (cudaEvent_t handle), (handle))
{
    struct CUevent_st *event = sim_event_of(handle);
    if (event == NULL)
        return cudaErrorInvalidResourceHandle;
    event->live = false;
    return cudaSuccess;
}

static cudaError_t record(cudaEvent_t event_handle, cudaStream_t stream_handle)
{
    struct CUstream_st *stream = sim_stream_of(stream_handle);
    struct CUevent_st *event = sim_event_of(event_handle);
    if (stream == NULL || event == NULL)
        return cudaErrorInvalidResourceHandle;
    if (stream->capture != NULL) {
        sim_capture_record(stream, event);
        return cudaSuccess;
    }
    sim_work work = sim_work_new(SIM_WORK_RECORD);
    work.event = event;
    sim_run_queued_later();
    sim_operation *operation = sim_stream_push(stream, &work);
    sim_event_mark(event, operation, &stream->clock);
    return operation != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return SIM_CALL(record(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    (void)flags;
    return SIM_CALL(record(event, stream));
}

static cudaError_t captured(void)
{
    return sim_fail(cudaErrorCapturedEvent,
                    "the event was recorded while a graph was captured, it never happens itself");
}

SIM_API(cudaEventQuery, (cudaEvent_t handle), (handle))
{
    struct CUevent_st *event = sim_event_of(handle);
    if (event == NULL)
        return cudaErrorInvalidResourceHandle;
    if (event->capture != NULL)
        return captured();
    if (!event->recorded)
        return cudaSuccess;
    if (!event->operation->done) {
        sim_stream_step(event->operation->stream);
        return sim_error_broken() != cudaSuccess ? sim_error_broken() : cudaErrorNotReady;
    }
    sim_host_waited(&event->clock);
    return cudaSuccess;
}

SIM_API(cudaEventSynchronize, (cudaEvent_t handle), (handle))
{
    struct CUevent_st *event = sim_event_of(handle);
    if (event == NULL)
        return cudaErrorInvalidResourceHandle;
    if (event->capture != NULL)
        return captured();
    if (!event->recorded)
        return cudaSuccess;
    return sim_wait_until(event->operation, &event->clock);
}

// A time that was asked for before its events had happened. A program may wait by asking again and again; one that has
// asked once and went on has missed the wait, which is known at the end.
static struct {
    uintptr_t pc;
    const struct CUevent_st *end;
    bool again, told;
} early;

static void report_early(void)
{
    if (early.pc == 0 || early.again || early.told)
        return;
    early.told = true;
    sim_finding finding = {.kind = SIM_MISSING_WAIT, .tier = SIM_ERROR, .place[0] = {.pc = early.pc, .role = "call"}};
    snprintf(finding.message, sizeof finding.message,
             "cudaEventElapsedTime fails with cudaErrorNotReady: the event has not happened yet; wait with "
             "cudaEventSynchronize first");
    sim_report(&finding);
}

__attribute__((constructor(102))) static void start(void)
{
    sim_report_at_end(SIM_END_EVENTS, report_early);
}

static cudaError_t too_early(const struct CUevent_st *start, const struct CUevent_st *end)
{
    const uintptr_t pc = sim_call_pc();
    if (early.pc != pc || early.end != end) {
        report_early();
        early.pc = pc;
        early.end = end;
        early.again = early.told = false;
        return cudaErrorNotReady;
    }
    early.again = true;
    sim_stream_step((start->operation->done ? end : start)->operation->stream);
    return sim_error_broken() != cudaSuccess ? sim_error_broken() : cudaErrorNotReady;
}

SIM_API(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle),
        (milliseconds, start_handle, end_handle))
{
    struct CUevent_st *start = sim_event_of(start_handle), *end = sim_event_of(end_handle);
    if (start == NULL || end == NULL)
        return cudaErrorInvalidResourceHandle;
    if (milliseconds == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the time is NULL");
    if (!start->recorded || !end->recorded)
        return sim_fail(cudaErrorInvalidResourceHandle, "the %s event was never recorded",
                        start->recorded ? "second" : "first");
    if ((start->flags | end->flags) & cudaEventDisableTiming)
        return sim_fail(cudaErrorInvalidResourceHandle, "an event made with cudaEventDisableTiming records no time");
    if (!start->operation->done || !end->operation->done)
        return too_early(start, end);
    if (early.again && early.pc == sim_call_pc() && early.end == end) {
        sim_host_waited(&start->clock);
        sim_host_waited(&end->clock);
        early.pc = 0;
    }
    // Never 0 where time must have passed: programs divide by it.
    const double smallest = 1e-4, difference = end->milliseconds - start->milliseconds;
    *milliseconds = (float)(difference >= 0 && difference < smallest ? smallest : difference);
    return cudaSuccess;
}
