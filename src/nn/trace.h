// A trace: operator applications in the order they run, and the values between them. The eager tensors build one as
// they go; the plan builds one from a model and compiles it. Gradients are appended here, once, for both.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/op.h"

typedef int heddle_value; // index in trace->values
enum {
    HEDDLE_NO_VALUE = -1,
    HEDDLE_TRACE_NAME = 64,
};

// The part of a step that a node belongs to.
typedef enum heddle_phase {
    HEDDLE_PHASE_FORWARD,
    HEDDLE_PHASE_LOAD,
    HEDDLE_PHASE_BACKWARD,
    HEDDLE_PHASE_UPDATE,
    HEDDLE_PHASE_FUSED, // one operator for several of these
    HEDDLE_PHASE_PAUSE, // between steps: evaluation, saving
    HEDDLE_PHASES,
} heddle_phase;

// What a node is for, in a person's words; of no consequence to what it computes.
typedef struct heddle_purpose {
    heddle_phase phase;
    const char *layer, *last; // the model's, which outlives the trace: its layer, or the first and last; NULL: none
} heddle_purpose;

typedef struct heddle_trace_value {
    char name[HEDDLE_TRACE_NAME];
    heddle_dtype dtype;
    int rank, dims[HEDDLE_MAX_DIMS];
    size_t elements;
    heddle_value root;     // itself, or the value whose memory a reshape shares
    heddle_value gradient; // kept at the root
    bool needs_gradient;   // kept at the root
    void *memory;          // set by whoever lays out memory; kept at the root
} heddle_trace_value;

typedef struct heddle_trace_node {
    const heddle_op *op;
    unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_value operand[2 * HEDDLE_MAX_OPERANDS]; // as in op->operands; HEDDLE_NO_VALUE: an optional one left out
    bool aside; // nothing up to the last node aside uses what it writes: it may run beside those that follow
    heddle_purpose purpose;
} heddle_trace_node;

typedef struct heddle_trace {
    heddle_trace_value *values;
    int value_count, value_room;
    heddle_trace_node *nodes;
    int node_count, node_room;
    heddle_purpose purpose; // of nodes that are appended
} heddle_trace;

void heddle_trace_clear(heddle_trace *trace);   // forgets nodes and values, keeps the room
void heddle_trace_destroy(heddle_trace *trace); // frees the room; the struct is the caller's

// Fails unless these are dimensions memory can have; *elements is their product. `name` is for the error.
heddle_status heddle_dims_check(const char *name, int rank, const int *dims, size_t *elements);
// A value nothing in the trace computes: an input, a parameter.
heddle_status heddle_trace_value_add(heddle_trace *trace, const char *name, heddle_dtype dtype, int rank,
                                     const int *dims, heddle_value *value);
heddle_status heddle_trace_reshape(heddle_trace *trace, heddle_value of, int rank, const int *dims,
                                   heddle_value *value);

// Names for one operand of an application.
typedef struct heddle_binding {
    const char *operand;
    heddle_value value;
} heddle_binding;

// Appends an application of `op`. `bound` names its inputs, and those outputs that already have a value (updates);
// other outputs get new values, except optional ones. The application's node index is in *node.
heddle_status heddle_trace_apply(heddle_trace *trace, const heddle_op *op, const void *shape,
                                 const heddle_binding *bound, int count, int *node);
// Appends a copy of a node whose values are in the trace already.
heddle_status heddle_trace_append(heddle_trace *trace, const heddle_trace_node *node);
// The value of operand `name` of a node.
heddle_value heddle_trace_operand(const heddle_trace *trace, int node, const char *name);

// Appends the backward operators of everything `loss` was computed from, as far as values need a gradient. A root value
// whose `gradient` is already set (a parameter's slot) is written there. `seed` is the gradient of the loss itself (one
// element, value 1). An operator is appended only if some gradient it gives is needed. A parameter itself is no loss.
heddle_status heddle_trace_differentiate(heddle_trace *trace, heddle_value loss, heddle_value seed);
