// Streams: queues that run lazily, in the thread that waits for them, so that a wait that was forgotten shows. The
// rules are CUDA's: a stream runs in order, the legacy default stream meets all blocking streams, events tie streams
// together.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/work.h"
#include "race/stream_order.h"

typedef struct sim_capture sim_capture; // api/capture.h

// One entry of a queue.
typedef struct sim_operation {
    sim_work work;
    struct CUstream_st *stream;
    struct sim_operation *next;
    struct sim_operation **after; // operations of other streams that must have run
    int after_count;
    int references; // the queue's, an event's, those of `after`
    bool done;
    size_t chain; // its place in the order of operations
    uint64_t sequence;
    sim_order_clock clock;
} sim_operation;

struct CUstream_st {
    struct CUstream_st *next; // all streams ever made; a destroyed one stays known
    bool live;
    unsigned flags;
    int priority;
    uint64_t number; // 0: the legacy default stream
    size_t chain;
    bool chain_ended;
    sim_order_clock clock; // of its last operation
    sim_operation *first, *last;
    sim_capture *capture;           // NULL: not capturing
    cudaGraphNode_t *capture_after; // what the next captured node comes after
    size_t capture_after_count;
    cudaLaunchAttributeValue access_policy;
};

extern struct CUstream_st *sim_streams; // all of them; the legacy default stream is the last

// The stream behind a handle of the program; NULL with a finding when it is none.
struct CUstream_st *sim_stream_of(cudaStream_t handle); // stream_handles.c
// NULL: no memory.
struct CUstream_st *sim_stream_new(unsigned flags, int priority);
struct CUstream_st *sim_stream_legacy(void);

// The operation last submitted to it: its order is the stream's. NULL: no memory.
sim_operation *sim_stream_push(struct CUstream_st *stream, sim_work *work);
// What follows in the stream comes after this operation and this time.
void sim_stream_await(struct CUstream_st *stream, sim_operation *operation, const sim_order_clock *clock);
// A piece of a graph: at `clock` on `chain` instead of the stream's own.
sim_operation *sim_stream_push_at(struct CUstream_st *stream, sim_work *work, size_t chain, sim_order_clock *clock);
// Right behind an operation that is running, as part of it: at its time, and next on `chain`.
sim_operation *sim_stream_insert(sim_operation *behind, sim_work *work, size_t chain, const sim_order_clock *clock);
// What a new operation of this stream comes after: its own last one, the host, the legacy stream's rules.
void sim_stream_meet(struct CUstream_st *stream);

// Adds to what an operation that is queued must come after; either may be NULL: nothing.
void sim_operation_after(sim_operation *operation, sim_operation *earlier);
void sim_operation_retain(sim_operation *operation);
void sim_operation_release(sim_operation *operation);
void sim_operation_done(sim_operation *operation); // it has run, and leaves its queue

bool sim_streams_empty(void);
size_t sim_streams_host_functions(void); // functions of the host that are queued; without the lock
bool sim_streams_run_here(void);         // this thread is running one: a kernel or a function of the host is under way
uint64_t sim_streams_submitted(void);    // operations so far
// Said by whoever runs queues: this thread does; it runs this function of the host, or none.
void sim_streams_runs_here(bool runs);
void sim_streams_host_function_runs(const sim_operation *operation);

// Where in the order the function of the host stands that this thread runs for a stream: what comes after operation
// `next` of the chain, which is the first behind the function, comes after the function.
typedef struct sim_host_place {
    size_t chain; // SIM_NO_CHAIN: there is none
    uint64_t next;
} sim_host_place;
sim_host_place sim_streams_host_place(void);

// Kernels and copies that the host has not waited for, newest first. In a function of the host that a stream runs:
// without those that wait for it.
void sim_operations_unwaited(bool (*visit)(const sim_work *work, void *context), void *context);
