// Building a trace, and differentiating it by the operators' own naming convention (see heddle/op.h). Knows nothing of
// memory or devices.

#include "nn/trace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ops.h"

static const char GRADIENT_PREFIX[] = "grad_";

void heddle_trace_clear(heddle_trace *trace)
{
    trace->value_count = 0;
    trace->node_count = 0;
    trace->purpose = (heddle_purpose){0};
}

void heddle_trace_destroy(heddle_trace *trace)
{
    free(trace->values);
    free(trace->nodes);
    memset(trace, 0, sizeof *trace);
}

// Makes room for one more element of `size` bytes.
static heddle_status grow(void **array, int count, int *room, size_t size)
{
    if (count < *room)
        return HEDDLE_OK;
    int wanted = *room ? 2 * *room : 64;
    void *grown = realloc(*array, (size_t)wanted * size);
    if (!grown)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a trace of %d entries", wanted);
    *array = grown;
    *room = wanted;
    return HEDDLE_OK;
}

heddle_status heddle_dims_check(const char *name, int rank, const int *dims, size_t *elements)
{
    if (rank < 0 || rank > HEDDLE_MAX_DIMS || (rank && !dims))
        return heddle_fail(HEDDLE_INVALID, "'%s' has rank %d; 0 to %d are possible", name, rank, HEDDLE_MAX_DIMS);
    // In bytes of the largest dtype it still has to be a size that pointers can span.
    const size_t most = PTRDIFF_MAX / sizeof(double);
    *elements = 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return heddle_fail(HEDDLE_INVALID, "'%s' has dimension %d = %d; it must not be negative", name, i, dims[i]);
        if (__builtin_mul_overflow(*elements, (size_t)dims[i], elements) || *elements > most)
            return heddle_fail(HEDDLE_INVALID, "'%s' has more elements than can be counted", name);
    }
    return HEDDLE_OK;
}

heddle_status heddle_trace_value_add(heddle_trace *trace, const char *name, heddle_dtype dtype, int rank,
                                     const int *dims, heddle_value *value)
{
    size_t elements = 0;
    HEDDLE_TRY(heddle_dims_check(name, rank, dims, &elements));
    HEDDLE_TRY(grow((void **)&trace->values, trace->value_count, &trace->value_room, sizeof *trace->values));
    heddle_trace_value *added = &trace->values[trace->value_count];
    memset(added, 0, sizeof *added);
    snprintf(added->name, sizeof added->name, "%s", name);
    added->dtype = dtype;
    added->rank = rank;
    added->elements = elements;
    if (rank)
        memcpy(added->dims, dims, (size_t)rank * sizeof *dims);
    added->root = trace->value_count;
    added->gradient = HEDDLE_NO_VALUE;
    *value = trace->value_count++;
    return HEDDLE_OK;
}

heddle_status heddle_trace_reshape(heddle_trace *trace, heddle_value of, int rank, const int *dims, heddle_value *value)
{
    char name[HEDDLE_TRACE_NAME];
    memcpy(name, trace->values[of].name, sizeof name);
    heddle_value root = trace->values[of].root;
    size_t elements = trace->values[of].elements;
    HEDDLE_TRY(heddle_trace_value_add(trace, name, trace->values[of].dtype, rank, dims, value));
    heddle_trace_value *added = &trace->values[*value];
    if (added->elements != elements) {
        trace->value_count--;
        return heddle_fail(HEDDLE_INVALID, "reshape of '%s' from %zu to %zu elements; the number must stay the same",
                           name, elements, added->elements);
    }
    added->root = root;
    return HEDDLE_OK;
}

static heddle_value find_bound(const heddle_binding *bound, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(bound[i].operand, name) == 0)
            return bound[i].value;
    return HEDDLE_NO_VALUE;
}

// Binds or creates operand `index` of the new node.
static heddle_status resolve_operand(heddle_trace *trace, const heddle_op *op, const void *shape, int index,
                                     const heddle_binding *bound, int count, heddle_value *value)
{
    const heddle_operand *operand = &op->operands[index];
    const heddle_dtype dtype = heddle_operand_dtype(op, index, shape);
    *value = find_bound(bound, count, operand->name);
    if (*value != HEDDLE_NO_VALUE) {
        size_t expected = heddle_operand_elements(op, index, shape);
        if (trace->values[*value].elements != expected || trace->values[*value].dtype != dtype)
            return heddle_fail(HEDDLE_INVALID, "%s: '%s' must be %zu elements of %s, got %zu of %s", op->name,
                               operand->name, expected, heddle_dtype_name(dtype), trace->values[*value].elements,
                               heddle_dtype_name(trace->values[*value].dtype));
        return HEDDLE_OK;
    }
    if (operand->optional)
        return HEDDLE_OK;
    // An update whose old content matters must be bound; one that is only written (matmul with beta 0) may be new.
    if (operand->role == HEDDLE_INPUT)
        return heddle_fail(HEDDLE_INTERNAL, "%s: input '%s' is not bound", op->name, operand->name);
    int dims[HEDDLE_MAX_DIMS];
    int rank = operand->dims(shape, dims);
    return heddle_trace_value_add(trace, operand->name, dtype, rank, dims, value);
}

heddle_status heddle_trace_apply(heddle_trace *trace, const heddle_op *op, const void *shape,
                                 const heddle_binding *bound, int count, int *node)
{
    HEDDLE_TRY(heddle_shape_validate(op, shape));
    HEDDLE_TRY(grow((void **)&trace->nodes, trace->node_count, &trace->node_room, sizeof *trace->nodes));
    heddle_trace_node added = {.op = op, .purpose = trace->purpose};
    memcpy(added.shape, shape, op->shape_size);
    bool needs_gradient = false;
    int values_before = trace->value_count;
    for (int i = 0; i < op->operand_count; i++) {
        HEDDLE_TRY(resolve_operand(trace, op, shape, i, bound, count, &added.operand[i]));
        if (op->operands[i].role == HEDDLE_INPUT && added.operand[i] != HEDDLE_NO_VALUE)
            needs_gradient |= trace->values[trace->values[added.operand[i]].root].needs_gradient;
    }
    for (heddle_value made = values_before; made < trace->value_count && op->gradients; made++)
        trace->values[made].needs_gradient = needs_gradient;
    *node = trace->node_count;
    trace->nodes[trace->node_count++] = added;
    return HEDDLE_OK;
}

heddle_status heddle_trace_append(heddle_trace *trace, const heddle_trace_node *node)
{
    HEDDLE_TRY(grow((void **)&trace->nodes, trace->node_count, &trace->node_room, sizeof *trace->nodes));
    trace->nodes[trace->node_count++] = *node;
    return HEDDLE_OK;
}

heddle_value heddle_trace_operand(const heddle_trace *trace, int node, const char *name)
{
    int index = heddle_operand_find(trace->nodes[node].op, name);
    return index < 0 ? HEDDLE_NO_VALUE : trace->nodes[node].operand[index];
}

// --- gradients ------------------------------------------------------------------------------------------------------

// "input" for "grad_input", NULL for a name that is no gradient's.
static const char *gradient_of(const char *name)
{
    size_t length = sizeof GRADIENT_PREFIX - 1;
    return strncmp(name, GRADIENT_PREFIX, length) == 0 ? name + length : NULL;
}

// The root of forward operand `name` of `node`, or HEDDLE_NO_VALUE.
static heddle_value forward_root(const heddle_trace *trace, int node, const char *name)
{
    heddle_value value = heddle_trace_operand(trace, node, name);
    return value == HEDDLE_NO_VALUE ? HEDDLE_NO_VALUE : trace->values[value].root;
}

// A gradient that a backward operator gives and somebody needs.
typedef struct pending_gradient {
    heddle_value of;    // root of the forward operand
    heddle_value fresh; // where the backward operator writes
} pending_gradient;

typedef struct backward_call {
    heddle_binding bound[2 * HEDDLE_MAX_OPERANDS];
    int bound_count;
    pending_gradient pending[HEDDLE_MAX_OPERANDS];
    int pending_count;
    bool possible; // every gradient it reads is there
} backward_call;

// Binds one operand of a backward operator: a value of the forward pass, an upstream gradient, or a gradient to give.
static heddle_status bind_operand(heddle_trace *trace, int node, const heddle_operand *operand, const bool *written,
                                  backward_call *call)
{
    const char *base = gradient_of(operand->name);
    heddle_value value = HEDDLE_NO_VALUE;
    if (!base) {
        value = heddle_trace_operand(trace, node, operand->name);
    } else if (operand->role == HEDDLE_INPUT) {
        heddle_value root = forward_root(trace, node, base);
        if (root == HEDDLE_NO_VALUE || trace->values[root].gradient == HEDDLE_NO_VALUE || !written[root])
            call->possible = false;
        else
            value = trace->values[root].gradient;
    } else {
        heddle_value root = forward_root(trace, node, base);
        if (root == HEDDLE_NO_VALUE || !trace->values[root].needs_gradient)
            return HEDDLE_OK;
        // The first contribution goes straight to the gradient's own place; another use of the value, in this call
        // (a * a) or an earlier one, needs room of its own and is added afterwards.
        bool taken = written[root];
        for (int i = 0; i < call->pending_count; i++)
            taken |= call->pending[i].of == root;
        pending_gradient *pending = &call->pending[call->pending_count++];
        *pending = (pending_gradient){.of = root, .fresh = taken ? HEDDLE_NO_VALUE : trace->values[root].gradient};
        if (pending->fresh == HEDDLE_NO_VALUE) {
            const heddle_trace_value like = trace->values[root]; // a copy: adding may move the values
            char name[2 * HEDDLE_TRACE_NAME];
            snprintf(name, sizeof name, "%s%s", GRADIENT_PREFIX, like.name);
            HEDDLE_TRY(heddle_trace_value_add(trace, name, like.dtype, like.rank, like.dims, &pending->fresh));
        }
        value = pending->fresh;
    }
    if (value != HEDDLE_NO_VALUE)
        call->bound[call->bound_count++] = (heddle_binding){operand->name, value};
    return HEDDLE_OK;
}

// Adds a further contribution to a value's gradient, in place.
static heddle_status accumulate(heddle_trace *trace, const pending_gradient *pending)
{
    const heddle_op *add;
    HEDDLE_TRY(heddle_op_find("add_forward", &add));
    heddle_elements_shape shape = {.n = (int)trace->values[pending->of].elements};
    heddle_value sum = trace->values[pending->of].gradient;
    heddle_binding bound[] = {{"a", sum}, {"b", pending->fresh}, {"output", sum}};
    int node;
    return heddle_trace_apply(trace, add, &shape, bound, 3, &node);
}

static heddle_status append_backward(heddle_trace *trace, int node, const heddle_op *backward, bool *written)
{
    backward_call call = {.possible = true};
    int values_before = trace->value_count;
    for (int i = 0; i < backward->operand_count; i++)
        HEDDLE_TRY(bind_operand(trace, node, &backward->operands[i], written, &call));
    if (!call.possible || call.pending_count == 0) {
        trace->value_count = values_before; // drops the values made for gradients that will not be computed
        return HEDDLE_OK;
    }
    int added;
    unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    memcpy(shape, trace->nodes[node].shape, sizeof shape); // apply may move the nodes
    trace->purpose = trace->nodes[node].purpose;
    trace->purpose.phase = HEDDLE_PHASE_BACKWARD;
    HEDDLE_TRY(heddle_trace_apply(trace, backward, shape, call.bound, call.bound_count, &added));
    for (int i = 0; i < call.pending_count; i++) {
        const pending_gradient *pending = &call.pending[i];
        if (written[pending->of])
            HEDDLE_TRY(accumulate(trace, pending));
        else
            trace->values[pending->of].gradient = pending->fresh;
        written[pending->of] = true;
    }
    return HEDDLE_OK;
}

// Does an operator write this root value?
static bool is_computed(const heddle_trace *trace, heddle_value root)
{
    for (int node = 0; node < trace->node_count; node++)
        for (int i = 0; i < trace->nodes[node].op->operand_count; i++) {
            heddle_value value = trace->nodes[node].operand[i];
            if (value != HEDDLE_NO_VALUE && trace->values[value].root == root &&
                trace->nodes[node].op->operands[i].role != HEDDLE_INPUT)
                return true;
        }
    return false;
}

heddle_status heddle_trace_differentiate(heddle_trace *trace, heddle_value loss, heddle_value seed)
{
    heddle_value root = trace->values[loss].root;
    if (trace->values[root].elements != 1)
        return heddle_fail(HEDDLE_INVALID, "gradients start from one number, but '%s' has %zu; take its sum or mean",
                           trace->values[root].name, trace->values[root].elements);
    if (trace->values[root].gradient != HEDDLE_NO_VALUE && !is_computed(trace, root))
        return heddle_fail(HEDDLE_INVALID, "'%s' is a parameter, not computed from any; its own gradient is 1",
                           trace->values[root].name);
    int forward_values = trace->value_count, forward_nodes = trace->node_count;
    // Which forward values have a gradient by now; only forward values are ever asked.
    bool *written = calloc((size_t)forward_values, sizeof *written);
    if (!written)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to differentiate %d values", forward_values);
    trace->values[root].gradient = seed;
    written[root] = true;
    heddle_status status = HEDDLE_OK;
    for (int node = forward_nodes - 1; node >= 0 && status == HEDDLE_OK; node--) {
        const heddle_op *const *backward = trace->nodes[node].op->gradients;
        for (; backward && *backward && status == HEDDLE_OK; backward++)
            status = append_backward(trace, node, *backward, written);
    }
    free(written);
    return status;
}
