// Events: marks in a stream that others wait for and that tell the time between them. The time is that of the
// simulation, not of a GPU. The API's functions for them are in event_calls.c.
#include "api/event.h"

#include "api/call.h"
#include "machine/clock.h"

struct CUevent_st *sim_events;

struct CUevent_st *sim_event_of(cudaEvent_t handle)
{
    for (struct CUevent_st *event = sim_events; event != NULL; event = event->next) {
        if (event != handle)
            continue;
        if (!event->live)
            sim_fail(cudaErrorInvalidResourceHandle, "the event has been destroyed");
        return event->live ? event : NULL;
    }
    sim_fail(cudaErrorInvalidResourceHandle, "there is no such event; was it created, and did that succeed?");
    return NULL;
}

void sim_event_recorded(cudaEvent_t event)
{
    event->milliseconds = 1e3 * sim_seconds(CLOCK_MONOTONIC);
}

void sim_event_mark(struct CUevent_st *event, sim_operation *operation, const sim_order_clock *clock)
{
    if (operation == NULL)
        return;
    if (event->operation != NULL)
        sim_operation_release(event->operation);
    sim_operation_retain(operation);
    event->operation = operation;
    event->recorded = true;
    event->capture = NULL;
    sim_order_clear(&event->clock);
    sim_order_join(&event->clock, clock);
}

void sim_events_leave(const sim_capture *capture)
{
    for (struct CUevent_st *event = sim_events; event != NULL; event = event->next) {
        if (event->capture == capture) {
            event->capture = NULL;
            event->recorded = false;
        }
    }
}
