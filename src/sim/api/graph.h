// Graphs: nodes of work and what each comes after; and graphs made ready to run.
#pragma once

#include "api/work.h"
#include "race/stream_order.h"

struct CUgraphNode_st {
    struct CUgraph_st *graph;
    enum cudaGraphNodeType type;
    sim_work work; // nothing for types that do not work by themselves
    struct CUgraphNode_st **after;
    size_t after_count;
    struct CUgraphNode_st *original; // of which this one is a clone
    struct CUgraph_st *child;
    cudaEvent_t event;
    // Of a conditional node: the graphs that it chooses from.
    struct CUgraph_st **bodies;
    size_t body_count;
    enum cudaGraphConditionalNodeType condition_type;
    struct sim_condition_value *value;
    // As the program gave them, to be given back.
    struct cudaKernelNodeParams kernel;
    struct cudaMemcpy3DParms copy;
    struct cudaMemsetParams fill;
    struct cudaMemAllocNodeParams allocation;
    size_t mark; // scratch: its position while a graph is put in order
};

typedef struct sim_held_object {
    cudaUserObject_t object;
    unsigned count;
} sim_held_object;

struct CUgraph_st {
    struct CUgraph_st *next; // all that are live
    struct CUgraphNode_st **nodes;
    size_t count;
    sim_held_object *held;
    size_t held_count;
};

// One node of a graph that is ready: with what it does, and its place in the order of operations.
typedef struct sim_step {
    struct CUgraphNode_st *node; // of the graph it was made from: how the program names it
    enum cudaGraphNodeType type;
    sim_work work;
    cudaEvent_t event;
    size_t *after; // indices of steps
    size_t after_count;
    size_t chain;
    bool owns_chain, disabled;
    sim_order_clock clock; // while a launch is being queued
} sim_step;

struct CUgraphExec_st {
    struct CUgraphExec_st *next;
    sim_step *steps; // each behind those that it comes after
    size_t count;
    sim_order_clock last;                 // the end of its last launch: launches of one exec do not overlap
    struct sim_operation *last_operation; // of that launch; NULL: none yet
    unsigned long long flags;
};

// What kernels set by cudaGraphSetConditional: its address is the program's handle.
typedef struct sim_condition_value {
    struct sim_condition_value
        *next; // all that were made; graphs that are ready may outlive the graph they were made from
    unsigned value, initial;
    bool assigned; // at every launch
} sim_condition_value;

typedef struct sim_body {
    sim_step *steps;
    size_t count;
} sim_body;

// A conditional node of a graph that is ready: shared by the pieces of its launches.
struct sim_condition {
    int references;
    sim_condition_value *value;
    enum cudaGraphConditionalNodeType type;
    size_t chain; // what bodies run comes one after the other
    sim_body *bodies;
    size_t count;
};
#define SIM_BODY_TO_CHOOSE SIZE_MAX
#define SIM_BODY_TO_RESET  (SIZE_MAX - 1)

sim_condition_value *sim_condition_value_of(cudaGraphConditionalHandle handle); // NULL with a finding when it is none
bool sim_condition_new(const struct CUgraphNode_st *node, sim_work *work); // false: no order to run in, or no memory
void sim_condition_release(struct sim_condition *condition);
struct sim_operation;
void sim_condition_run(struct sim_operation *operation); // queues what it says right behind it

// NULL where there is no memory, which sim_no_memory (api/call.h) has been told then.
struct CUgraph_st *sim_graph_new(void);
struct CUgraph_st *sim_graph_clone(const struct CUgraph_st *graph);
void sim_graph_delete(struct CUgraph_st *graph);
struct CUgraph_st *sim_graph_of(cudaGraph_t handle);              // NULL with a finding when it is none
struct CUgraphNode_st *sim_graph_node_of(cudaGraphNode_t handle); // the same
// Adds a node that comes after others of the same graph; NULL with a finding when they are not, or without memory.
struct CUgraphNode_st *sim_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     const cudaGraphNode_t *after, size_t after_count);
enum cudaGraphNodeType sim_graph_type_of(const sim_work *work);

// The nodes of a graph, with those of child graphs in their place, as steps in an order in which they can run. false:
// there is no such order, or no memory.
bool sim_graph_steps(struct CUgraph_st *graph, sim_step **steps, size_t *count);
void sim_graph_steps_free(sim_step *steps, size_t count);

// Whether a node of the graph may free this memory; reports why not.
cudaError_t sim_graph_free_check(const struct CUgraph_st *graph, void *memory);

// Work from the parameters of a node: a kernel, copy, fill or function of the host.
cudaError_t sim_graph_work(enum cudaGraphNodeType type, const void *parameters, sim_work *work);
struct cudaMemcpy3DParms sim_graph_copy_flat(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);

struct CUuserObject_st {
    void *data;
    cudaHostFn_t destroy;
    unsigned references;
};

void sim_user_object_release(cudaUserObject_t object, unsigned count); // its last reference destroys it
