// The trace of small launches (SIM_TRACE): what each lane of the first blocks did, in the order in which it was run,
// and what the streams ran. Recording is here, writing in report/trace.c. A traced block takes the slow path at every
// access (access.c: remember), so that blocks without a trace pay nothing. It changes no verdict: it only listens.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/memory.h"
#include "race/race.h"
#include "race/site.h"

enum {
    SIM_TRACE_LAUNCHES = 64,                            // with a trace, of one run
    SIM_TRACE_BLOCKS = 4,                               // of a launch: the first ones, and the last
    SIM_TRACE_WARPS = 8,                                // of a block: the first ones
    SIM_TRACE_BLOCK_ACCESSES = 50000,                   // of a block, by single lanes: it is not traced beyond them
    SIM_TRACE_EVENTS = SIM_TRACE_BLOCK_ACCESSES + 8192, // of a block
    SIM_TRACE_ACCESSES = 400000,                        // of one run: no launch is traced once there are so many
    SIM_TRACE_BUFFERS = 64,                             // of a block
    SIM_TRACE_OPERATIONS = 1000,                        // of one run
    SIM_TRACE_AFTER = 8, // operations that one comes after, besides the one before it in its stream
    SIM_TRACE_NO_BUFFER = 255,
};

typedef enum sim_trace_space {
    SIM_TRACE_ALLOCATION,
    SIM_TRACE_SHARED,
    SIM_TRACE_DYNAMIC, // extern __shared__
    SIM_TRACE_VARIABLE // __device__, __constant__, __managed__
} sim_trace_space;

typedef struct sim_trace_buffer {
    sim_trace_space space;
    sim_memory_kind memory; // of an allocation
    uintptr_t start;        // of a __shared__ variable: from the beginning of the block's shared memory
    size_t bytes;
    uintptr_t allocated_at;
    const char *function; // that allocated it
    char name[128];       // of a variable
} sim_trace_buffer;

typedef enum sim_trace_kind {
    SIM_TRACE_ACCESS,   // by the lanes of a warp together
    SIM_TRACE_WRONG,    // an access that was reported and is not counted
    SIM_TRACE_ARRIVE,   // lanes wait at a barrier
    SIM_TRACE_LEAVE,    // all that the barrier waits for have arrived
    SIM_TRACE_SYNCWARP, // lanes of a warp have met
    SIM_TRACE_EXIT      // lanes have ended
} sim_trace_kind;

typedef struct sim_trace_event {
    uint8_t kind;        // sim_trace_kind
    uint8_t access;      // of an access: SIM_READ, ...
    uint8_t bytes, copy; // per lane; SIM_NO_COPY, ...
    uint8_t warp;
    int16_t barrier; // of LEAVE: a named one; -1: the block's
    uint32_t lanes;  // of LEAVE: warps
    uintptr_t pc;
} sim_trace_event;

// One lane's part of an access. They stand in the order in which the lanes were run.
typedef struct sim_trace_access {
    int64_t offset;
    uint64_t value; // that the memory held behind a store or an atomic
    uint32_t event; // UINT32_MAX: its warp has not come to a stop before the trace ended
    uint16_t thread;
    uint8_t buffer; // of the block; SIM_TRACE_NO_BUFFER: none
    bool valued;
} sim_trace_access;

enum { SIM_TRACE_PENDING = 160 }; // a lane's accesses that are not merged: no more than its log has

typedef struct sim_block_trace {
    uint64_t number;
    unsigned index[3];
    bool stopped; // there is no room for more, or the block is not watched any more
    sim_trace_access *accesses;
    sim_trace_event *events;
    uint32_t access_count, event_count;
    sim_trace_buffer buffers[SIM_TRACE_BUFFERS];
    unsigned buffer_count;
    // While it runs.
    uint32_t pending[SIM_LANES][SIM_TRACE_PENDING]; // accesses of the current warp that are not merged
    uint32_t head[SIM_LANES], tail[SIM_LANES];
    struct {
        uintptr_t address;
        uint32_t access;
    } latest[SIM_TRACE_WARPS * SIM_LANES]; // by thread
    uint32_t arrived[SIM_TRACE_WARPS], live[SIM_TRACE_WARPS];
    struct {
        uintptr_t address; // 0: none
        uint32_t access;
        unsigned bytes;
    } store; // that is about to be made
    struct {
        sim_trace_event event;
        uint32_t access;
    } wrong[SIM_FAULTS]; // not yet among the events
    unsigned wrong_count;
} sim_block_trace;

typedef struct sim_launch_trace {
    uint64_t number;
    const char *kernel;
    unsigned grid[3], block[3];
    uint64_t grid_blocks;
    size_t shared;
    uintptr_t launched_at;
    sim_block_trace *blocks[SIM_TRACE_BLOCKS]; // NULL: not traced
} sim_launch_trace;

// An operation of a stream, as it was run.
typedef struct sim_trace_operation {
    const char *kind;     // "kernel", "copy", "fill", "free", "host function"; a literal
    const char *function; // of the API that asked for it
    const char *kernel;   // NULL: it is none
    const char *way;      // of a copy: "host to device", ...
    uintptr_t pc;
    size_t bytes;
    uint64_t number, submitted, stream;
    size_t chain;
    uint64_t sequence; // in the chain; 0: it has none
    struct {
        size_t chain;
        uint64_t sequence;
    } after[SIM_TRACE_AFTER];
    unsigned after_count;
} sim_trace_operation;

bool sim_trace_wanted(void);
void sim_trace_launch_begin(sim_launch_state *launch);
void sim_trace_block_begin(sim_worker *worker);

// The current thread of a traced block: an access is in its log; it is about to store, at the place of that access; it
// stops, so what it has stored can be read.
void sim_trace_logged(sim_worker *worker, uintptr_t address);
void sim_trace_stores(sim_worker *worker, uintptr_t address, unsigned bytes);
void sim_trace_settle(sim_worker *worker);
// A wrong access, which is not in the log. SIM_TRACE_INDEX: an index beyond its array, of 0 bytes.
enum { SIM_TRACE_INDEX = SIM_VOLATILE_WRITE + 1 };
void sim_trace_wrong(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc);
// The warp has made this row.
void sim_trace_row(sim_worker *worker, const sim_row *row);
// Rows of the current warp have been merged: who has come to a barrier, or ended.
void sim_trace_warp_stopped(sim_worker *worker);
void sim_trace_block_end(sim_worker *worker);
void sim_trace_barrier(sim_worker *worker);
void sim_trace_barrier_some(sim_worker *worker, int id, const uint32_t members[SIM_WARPS]);
void sim_trace_warp_met(sim_worker *worker, uint32_t mask); // in __syncwarp
void sim_trace_forsaken(sim_worker *worker);

// Whether accesses of the worker's block have to be looked at one by one.
static inline bool sim_trace_looks(const sim_worker *worker)
{
    return worker->block->trace && !worker->block->trace->stopped;
}

void sim_trace_operation_ran(const sim_trace_operation *operation);

// For the writer.
unsigned sim_trace_launches(const sim_launch_trace *const **all, uint64_t *left_out);
unsigned sim_trace_operations(const sim_trace_operation **all, uint64_t *left_out);
