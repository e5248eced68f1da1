// Frees the tensors that a program has released, and what only they were computed from. The trace is a list, so what
// stays moves up: values and nodes get new numbers.

#include <stdlib.h>

#include "nn/tensor.h"

void heddle_tensor_release(heddle_tensor *tensor)
{
    if (tensor)
        tensor->released = true;
}

// --- what stays -----------------------------------------------------------------------------------------------------

typedef struct sweep {
    heddle_context *context;
    bool *value_stays, *node_stays;
    heddle_value *moved; // new number of a value that stays
} sweep;

static void keep_value(const sweep *state, heddle_value value)
{
    if (value == HEDDLE_NO_VALUE)
        return;
    state->value_stays[value] = true;
    state->value_stays[state->context->trace.values[value].root] = true;
}

static bool tensor_stays(const sweep *state, const heddle_tensor *tensor)
{
    return !tensor->released || (tensor->value != HEDDLE_NO_VALUE && state->value_stays[tensor->value]);
}

static void keep_held(const sweep *state, const heddle_tensor *list)
{
    for (const heddle_tensor *tensor = list; tensor; tensor = tensor->next)
        if (!tensor->released)
            keep_value(state, tensor->value);
}

static bool writes_what_stays(const sweep *state, const heddle_trace_node *node)
{
    for (int i = 0; i < node->op->operand_count; i++)
        if (node->op->operands[i].role != HEDDLE_INPUT && node->operand[i] != HEDDLE_NO_VALUE &&
            state->value_stays[state->context->trace.values[node->operand[i]].root])
            return true;
    return false;
}

// A tensor stays with all that it was computed from, because heddle_backward goes there. Gradients stay as numbers: the
// operators that computed them do not, so they are marked last.
static void mark(const sweep *state)
{
    const heddle_trace *trace = &state->context->trace;
    keep_held(state, state->context->tensors);
    keep_held(state, state->context->parameters);
    for (int i = trace->node_count - 1; i >= 0; i--) {
        const heddle_trace_node *node = &trace->nodes[i];
        state->node_stays[i] = writes_what_stays(state, node);
        for (int j = 0; j < node->op->operand_count && state->node_stays[i]; j++)
            keep_value(state, node->operand[j]);
    }
    // A reshape is no node: its parent stays because heddle_tensor_parents names it. A tensor stands in the list before
    // those that it was computed from.
    for (const heddle_tensor *tensor = state->context->tensors; tensor; tensor = tensor->next)
        for (int i = 0; i < tensor->parent_count && tensor_stays(state, tensor); i++)
            keep_value(state, tensor->parents[i]->value);
    for (heddle_value i = 0; i < trace->value_count; i++)
        if (state->value_stays[i] && trace->values[i].root == i)
            keep_value(state, trace->values[i].gradient);
}

// --- what goes ------------------------------------------------------------------------------------------------------

// The memory of a parameter and its gradient is the parameter's, and values of the trace only point there.
static void disown_parameters(const sweep *state)
{
    heddle_trace_value *values = state->context->trace.values;
    for (const heddle_tensor *tensor = state->context->parameters; tensor; tensor = tensor->next)
        if (tensor->value != HEDDLE_NO_VALUE && !state->value_stays[tensor->value]) {
            values[values[tensor->value].gradient].memory = NULL;
            values[tensor->value].memory = NULL;
        }
}

static void free_tensors(const sweep *state, heddle_tensor **list)
{
    while (*list) {
        heddle_tensor *tensor = *list;
        if (tensor_stays(state, tensor)) {
            if (tensor->value != HEDDLE_NO_VALUE)
                tensor->value = state->moved[tensor->value];
            list = &tensor->next;
        } else {
            *list = tensor->next;
            heddle_tensor_free(tensor);
        }
    }
}

static void move_values(const sweep *state)
{
    heddle_trace *trace = &state->context->trace;
    int count = 0;
    for (heddle_value i = 0; i < trace->value_count; i++) {
        heddle_trace_value *value = &trace->values[i];
        if (!state->value_stays[i]) {
            if (value->root == i)
                heddle_free(state->context->device, value->memory);
            continue;
        }
        state->moved[i] = count;
        if (count != i)
            trace->values[count] = *value;
        count++;
    }
    trace->value_count = count;
    for (heddle_value i = 0; i < count; i++) {
        heddle_trace_value *value = &trace->values[i];
        value->root = state->moved[value->root];
        value->gradient = value->gradient == HEDDLE_NO_VALUE ? HEDDLE_NO_VALUE : state->moved[value->gradient];
    }
}

static void move_nodes(const sweep *state)
{
    heddle_trace *trace = &state->context->trace;
    int count = 0;
    for (int i = 0; i < trace->node_count; i++) {
        if (!state->node_stays[i])
            continue;
        heddle_trace_node *node = &trace->nodes[count];
        if (count++ != i)
            *node = trace->nodes[i];
        for (int j = 0; j < node->op->operand_count; j++)
            if (node->operand[j] != HEDDLE_NO_VALUE)
                node->operand[j] = state->moved[node->operand[j]];
    }
    trace->node_count = count;
}

heddle_status heddle_context_sweep(heddle_context *context)
{
    if (!context)
        return heddle_fail(HEDDLE_INVALID, "heddle_context_sweep needs a context, and got NULL");
    HEDDLE_TRY(heddle_stream_synchronize(context->stream));
    const size_t values = (size_t)context->trace.value_count + 1, nodes = (size_t)context->trace.node_count + 1;
    sweep state = {.context = context,
                   .value_stays = calloc(values, sizeof *state.value_stays),
                   .node_stays = calloc(nodes, sizeof *state.node_stays),
                   .moved = calloc(values, sizeof *state.moved)};
    heddle_status status = HEDDLE_OK;
    if (state.value_stays && state.node_stays && state.moved) {
        mark(&state);
        disown_parameters(&state);
        move_values(&state);
        move_nodes(&state);
        free_tensors(&state, &context->tensors);
        free_tensors(&state, &context->parameters);
    } else {
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to sweep %d values", context->trace.value_count);
    }
    free(state.value_stays);
    free(state.node_stays);
    free(state.moved);
    return status;
}
