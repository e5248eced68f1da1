// The cpu device inside. A stream is a queue of items. One lock guards all scheduling; work itself runs outside of it,
// on executor threads that take ready items, most urgent stream first. A stream that waits for an event or a graph
// holds no executor: it stands in a list of what it waits for.
//
// Each file calls only those below it:
//
//   cpu.c           the backend's table, opening and closing
//   stream.c, event.c, executor.c   the interface's functions; the threads
//   synchronize.c   callers that wait
//   default.c       what the default stream and blocking streams wait for
//   capture.c       what a stream that records does instead of queueing
//   schedule.c      which item is ready, and what follows when it is done
//   object.c        items, marks and failures: made, recycled, counted
//   graph.c         nodes and edges of a graph
//   memory.c, info.c, processor.c   the machine
//
// Functions say "locked" where the device's lock must be held.
#pragma once

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "device/backend.h"

enum {
    CPU_PRIORITY_LEAST = 0,
    CPU_PRIORITY_GREATEST = -5, // what current GPUs have
    CPU_PRIORITY_LEVELS = CPU_PRIORITY_LEAST - CPU_PRIORITY_GREATEST + 1,
    CPU_INLINE_ARGUMENTS = 448, // an operator's call with its shape; larger ones are allocated
    CPU_REASON_SIZE = 192,
    CPU_NO_NODE = -1,
    CPU_NO_EDGE = -1,
};

struct cpu_device;
struct cpu_stream;
struct cpu_graph;

// Why a piece of work failed, shared by the stream and the events behind it.
struct cpu_failure {
    int references;
    uint64_t order; // failures of a device are numbered as they happen
    heddle_status status;
    char message[1024];
};

// One record of an event: done once the stream has got there. An event names its latest; waits keep the one they found.
struct cpu_mark {
    struct cpu_mark *next_free;
    int references;
    atomic_bool done;
    bool awaited; // somebody sleeps in heddle_event_synchronize
    double time;
    struct cpu_failure *failure; // what the stream had failed with by then
    struct cpu_stream *blocked;  // streams whose next item waits for this
};

enum cpu_item_kind {
    CPU_ITEM_WORK,   // work(arguments), on an executor
    CPU_ITEM_RECORD, // completes a mark
    CPU_ITEM_WAIT,   // holds the stream until a mark is done
    CPU_ITEM_GRAPH,  // one launch of a graph
    CPU_ITEM_JOIN,   // in a graph: nothing, after two others
};

struct cpu_item {
    struct cpu_item *next;       // in the stream, or the list of free items
    struct cpu_item *next_ready; // in the ready queue
    enum cpu_item_kind kind;
    int level;                 // 0 is the most urgent
    uint64_t ticket;           // items of a device are numbered as they are submitted
    struct cpu_stream *stream; // NULL: a graph's node
    struct cpu_graph *graph;   // the graph it is a node of, or launches
    struct cpu_mark *mark;
    heddle_work *work;
    void *large_arguments; // instead of `arguments` where those are too small
    alignas(max_align_t) unsigned char arguments[CPU_INLINE_ARGUMENTS];
};

struct cpu_stream {
    heddle_stream base;
    struct cpu_stream *next, *previous; // of the device
    heddle_stream_kind kind;
    int level;
    struct cpu_item *head, *tail; // the head stays until it is done
    uint64_t submitted;           // ticket of the last item
    _Atomic uint64_t completed;   // ticket of the last item done
    uint64_t wake_at;             // lowest ticket a caller sleeps for; UINT64_MAX: none
    struct cpu_stream *next_blocked;
    struct cpu_stream *next_advance;
    struct cpu_failure *failure; // work is dropped until it has been reported
    struct cpu_capture *capture; // NULL: not capturing
    int frontier;                // last node captured here
};

struct cpu_event {
    heddle_event base;
    struct cpu_mark *mark; // NULL: never recorded, or recorded in a capture
    uint64_t capture;      // number of the capture it was last recorded in; 0: none
    int node;
};

enum { CPU_NODE_DEPENDENCIES = 2 };

struct cpu_node {
    struct cpu_item item;
    int dependencies[CPU_NODE_DEPENDENCIES]; // always earlier nodes
    int dependency_count;
    int pending; // dependencies not done yet in this launch
    // The edges out of this node as a list: edge e is entry e % 2 of node e / 2's dependencies.
    int first_edge;
    int next_edge[CPU_NODE_DEPENDENCIES];
};

struct cpu_graph {
    heddle_graph base;
    int references; // the owner's, and one for each queued launch
    struct cpu_node *nodes;
    int count, room;
    struct cpu_item *launch; // the launch under way
    int remaining;
    struct cpu_failure *failure;
    struct cpu_stream *waiting, *waiting_last; // streams whose next item launches this graph
};

struct cpu_capture {
    struct cpu_capture *next;
    uint64_t number;
    struct cpu_stream *origin;
    struct cpu_graph *graph;
    bool invalid;
    char reason[CPU_REASON_SIZE];
};

struct cpu_device {
    heddle_device base;
    heddle_pool *pool;
    int cores;
    uint64_t memory_total;
    double executor_spin, caller_spin; // seconds before a waiting thread sleeps

    pthread_mutex_t lock;
    uint64_t tickets, failures, captures_begun;
    struct cpu_stream *streams;
    struct cpu_stream *advance; // streams whose next item can be looked at
    struct cpu_capture *captures;
    int events, graphs; // live ones
    struct cpu_item *free_items;
    int free_item_count;
    struct cpu_mark *free_marks;

    struct {
        struct cpu_item *first, *last;
    } ready[CPU_PRIORITY_LEVELS];
    atomic_int ready_count;

    pthread_t *executors;
    int executor_count;
    pthread_cond_t work; // executors sleep here
    int sleepers;        // executors asleep that nobody has woken
    int spinners;        // executors awake without work, and those woken that are on their way
    int wakes;           // wakes given that no executor has taken yet
    atomic_bool stop;

    pthread_cond_t progress; // callers sleep here
    bool notify;             // something a caller sleeps for has happened
};

static inline struct cpu_device *cpu_device_of(heddle_device *device)
{
    return (struct cpu_device *)device;
}

static inline struct cpu_device *cpu_stream_device(const struct cpu_stream *stream)
{
    return (struct cpu_device *)stream->base.device;
}

// --- schedule.c -----------------------------------------------------------------------------------------------------

void heddle_cpu_lock(struct cpu_device *device);
// Wakes as many executors as there is ready work for, and callers where something they wait for has happened.
void heddle_cpu_unlock(struct cpu_device *device);
// Puts the item at the end of the stream. Locked.
void heddle_cpu_enqueue(struct cpu_stream *stream, struct cpu_item *item);
// The most urgent ready item, or NULL. Locked.
struct cpu_item *heddle_cpu_take_ready(struct cpu_device *device);
// After an item of the ready queue has run in this thread and returned `status`. Locked.
void heddle_cpu_complete(struct cpu_device *device, struct cpu_item *item, heddle_status status);
// Is everything submitted to the stream up to `ticket` done? Locked.
bool heddle_cpu_passed(const struct cpu_stream *stream, uint64_t ticket);

// --- graph.c --------------------------------------------------------------------------------------------------------

struct cpu_graph *heddle_cpu_graph_create(struct cpu_device *device); // NULL: no memory
void heddle_cpu_graph_release(struct cpu_graph *graph);               // locked
// Appends a node; NULL when out of memory. Locked.
struct cpu_node *heddle_cpu_graph_append(struct cpu_graph *graph);
void heddle_cpu_graph_add_dependency(struct cpu_node *node, int dependency);

// --- capture.c ------------------------------------------------------------------------------------------------------

heddle_status heddle_cpu_capture_begin(heddle_stream *stream);
heddle_status heddle_cpu_capture_end(heddle_stream *stream, heddle_graph **graph);
// For a stream that is capturing: records what would have been queued. Locked.
heddle_status heddle_cpu_capture_work(struct cpu_stream *stream, heddle_work *work, const void *arguments, size_t size);
heddle_status heddle_cpu_capture_record(struct cpu_stream *stream, struct cpu_event *event);
// For a wait where the stream is capturing or the event was recorded in a capture. Locked.
heddle_status heddle_cpu_capture_wait(struct cpu_stream *stream, struct cpu_event *event);
// Ends in HEDDLE_INVALID: `action` is not allowed during a capture, and the capture is lost. Locked.
heddle_status heddle_cpu_capture_forbid(struct cpu_capture *capture, const char *action);
void heddle_cpu_capture_abandon(struct cpu_device *device); // every capture under way; locked
// The capture with this number, or NULL when it has ended. Locked.
struct cpu_capture *heddle_cpu_capture_find(struct cpu_device *device, uint64_t number);

// --- synchronize.c --------------------------------------------------------------------------------------------------

// HEDDLE_INVALID in a thread that runs this device's work: waiting for the device there would never end.
heddle_status heddle_cpu_may_wait(const struct cpu_device *device, const char *function);
void heddle_cpu_enter_executor(const struct cpu_device *device);
heddle_status heddle_cpu_stream_synchronize(heddle_stream *stream);
heddle_status heddle_cpu_synchronize(heddle_device *device);
heddle_status heddle_cpu_finish(heddle_device *device);
heddle_status heddle_cpu_event_synchronize(heddle_event *event);
// Waits until the stream is empty. Locked, but not all the time.
void heddle_cpu_drain(struct cpu_stream *stream);

// --- executor.c -----------------------------------------------------------------------------------------------------

heddle_status heddle_cpu_start_executors(struct cpu_device *device);
void heddle_cpu_stop_executors(struct cpu_device *device);

// --- object.c -------------------------------------------------------------------------------------------------------

heddle_status heddle_cpu_reserve_items(struct cpu_device *device);                           // some items to begin with
struct cpu_item *heddle_cpu_item_create(struct cpu_device *device, enum cpu_item_kind kind); // locked; NULL: no memory
void heddle_cpu_item_release(struct cpu_device *device, struct cpu_item *item);              // locked
// Copies the arguments; false when out of memory.
bool heddle_cpu_item_set_work(struct cpu_item *item, heddle_work *work, const void *arguments, size_t size);
const void *heddle_cpu_item_arguments(const struct cpu_item *item);
struct cpu_mark *heddle_cpu_mark_create(struct cpu_device *device);             // locked; NULL: no memory
void heddle_cpu_mark_release(struct cpu_device *device, struct cpu_mark *mark); // locked; NULL is fine
// From this thread's last error. Never NULL. Locked.
struct cpu_failure *heddle_cpu_failure_create(struct cpu_device *device, heddle_status status);
struct cpu_failure *heddle_cpu_failure_share(struct cpu_failure *failure); // locked; NULL is fine
void heddle_cpu_failure_release(struct cpu_failure *failure);              // locked; NULL is fine
void heddle_cpu_free_objects(struct cpu_device *device);

// --- stream.c, event.c, memory.c, info.c ----------------------------------------------------------------------------

heddle_status heddle_cpu_stream_create(heddle_device *device, heddle_stream_kind kind, int priority,
                                       heddle_stream **stream);
heddle_status heddle_cpu_stream_destroy(heddle_stream *stream);
heddle_status heddle_cpu_stream_query(heddle_stream *stream, bool *done);
heddle_status heddle_cpu_copy(heddle_stream *stream, void *to, const void *from, size_t bytes);
heddle_status heddle_cpu_fill(heddle_stream *stream, void *memory, uint8_t value, size_t bytes);
heddle_status heddle_cpu_callback(heddle_stream *stream, heddle_host_function *function, void *context);
heddle_status heddle_cpu_graph_launch(heddle_graph *graph, heddle_stream *stream);
heddle_status heddle_cpu_graph_destroy(heddle_graph *graph);
heddle_status heddle_cpu_submit(heddle_stream *stream, heddle_work *work, const void *arguments, size_t size);
void heddle_cpu_stream_free(struct cpu_stream *stream); // locked; the stream is empty
// Before anything is queued on a stream: where the default stream has a say, what comes waits for what it has to wait
// for (default.c). Locked.
heddle_status heddle_cpu_meet_default(struct cpu_stream *stream);

heddle_status heddle_cpu_event_create(heddle_device *device, heddle_event **event);
heddle_status heddle_cpu_event_destroy(heddle_event *event);
heddle_status heddle_cpu_event_record(heddle_event *event, heddle_stream *stream);
heddle_status heddle_cpu_stream_wait(heddle_stream *stream, heddle_event *event);
heddle_status heddle_cpu_event_query(heddle_event *event, bool *done);
heddle_status heddle_cpu_event_elapsed(heddle_event *start, heddle_event *end, double *milliseconds);
// HEDDLE_INVALID for an event whose last record was captured, not run. Locked.
heddle_status heddle_cpu_event_is_real(struct cpu_event *event, const char *action);

heddle_status heddle_cpu_alloc(heddle_device *device, size_t bytes, void **memory);
void heddle_cpu_free(heddle_device *device, void *memory, size_t bytes);
heddle_status heddle_cpu_alloc_pinned(heddle_device *device, size_t bytes, void **memory);
void heddle_cpu_free_pinned(heddle_device *device, void *memory, size_t bytes);

heddle_status heddle_cpu_describe(heddle_device *device, heddle_device_info *info);
int heddle_cpu_properties(heddle_device *device, heddle_device_property *rows, int most);
void heddle_cpu_memory(uint64_t *total, uint64_t *available); // bytes, cgroup limits respected
