// What a stream can be asked to do: one piece of work, as streams queue it and graph nodes keep it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/host_heap.h"
#include "sim/runtime_api.h"

typedef enum sim_work_kind {
    SIM_WORK_NOTHING,
    SIM_WORK_KERNEL,
    SIM_WORK_COPY,
    SIM_WORK_FILL,
    SIM_WORK_HOST,     // cudaLaunchHostFunc
    SIM_WORK_CALLBACK, // cudaStreamAddCallback
    SIM_WORK_RECORD,
    SIM_WORK_FREE,
    SIM_WORK_ALLOCATE,  // of a graph
    SIM_WORK_GIVE,      // cudaMallocAsync: from here on the memory may be used
    SIM_WORK_CONDITION, // of a conditional node: runs its bodies step by step
} sim_work_kind;

// A kernel with its arguments, shared by the launches and graph nodes that use it.
typedef struct sim_bound {
    sim_kernel kernel;
    int references;
} sim_bound;

// A copy of depth slices of height rows of width bytes. Distances in bytes.
typedef struct sim_copy {
    uint8_t *to;
    const uint8_t *from;
    size_t to_pitch, to_slice, from_pitch, from_slice;
    size_t width, height, depth;
    bool to_host, from_host; // pageable or pinned memory of the host
    void *staging;           // holds the source when it was taken at the call; owned
    // Of a copy that may run long after the call: the blocks of the host's heap at both ends.
    sim_host_block to_block, from_block;
} sim_copy;

// Elements of 1, 2 or 4 bytes set to `value`.
typedef struct sim_fill {
    uint8_t *to;
    size_t pitch, slice;
    size_t width, height, depth; // width in bytes
    unsigned value, element;
} sim_fill;

typedef struct sim_work {
    sim_work_kind kind;
    uintptr_t pc;
    const char *function; // the call it comes from
    uint64_t submitted;   // its number among all operations of the program, by the thread of the host with this number
    unsigned thread;
    union {
        struct {
            sim_bound *bound;
            sim_config config;
        } kernel;
        sim_copy copy;
        sim_fill fill;
        struct {
            cudaHostFn_t function;
            void *data;
        } host;
        struct {
            cudaStreamCallback_t function;
            void *data;
        } callback;
        cudaEvent_t event;
        void *memory; // given, or to be freed
        struct {
            void *memory;
            bool frees_first;
        } allocation;
        struct {
            struct sim_condition *shared; // api/graph.h
            size_t body, step;            // to be run next
        } condition;
    };
} sim_work;

// Work of the current call.
sim_work sim_work_new(sim_work_kind kind);
sim_bound *sim_bound_new(const sim_kernel *kernel); // NULL: no memory; the kernel is released
// Another holder of the same work; nothing with staging.
sim_work sim_work_share(const sim_work *work);
void sim_work_release(sim_work *work);
// Whether it touches memory, and so takes part in the order of operations.
bool sim_work_has_number(const sim_work *work);
bool sim_work_is_host_function(sim_work_kind kind);
// Runs it now (work_run.c). `number`: among all that touch memory. `stream`: as the program knows it, for callbacks.
cudaError_t sim_work_run(sim_work *work, uint64_t number, cudaStream_t stream);
