// Events: marks in a stream.
#pragma once

#include "api/stream.h"

struct CUevent_st {
    struct CUevent_st *next;
    bool live;
    unsigned flags;
    bool recorded;
    sim_operation *operation; // the last record, held; NULL: none yet
    sim_order_clock clock;    // of that record
    double milliseconds;      // when it ran
    // Recorded in a stream that captures: the nodes it stands for.
    sim_capture *capture;
    cudaGraphNode_t *capture_after;
    size_t capture_after_count;
};

extern struct CUevent_st *sim_events;                // all of them; a destroyed one stays known
struct CUevent_st *sim_event_of(cudaEvent_t handle); // NULL with a finding when it is none
// The event now stands for this operation.
void sim_event_mark(struct CUevent_st *event, sim_operation *operation, const sim_order_clock *clock);
void sim_event_recorded(cudaEvent_t event); // its turn came
// A capture is over: events that were recorded in it have not happened.
void sim_events_leave(const sim_capture *capture);
