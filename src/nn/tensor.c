// Eager tensors: contexts, memory, running an operator when it is called, gradients. Each application is written into
// the context's trace, from which heddle_backward takes the gradients. The operators as functions are in tensor_ops.c.

#include "nn/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEQUENCE_PARAMETERS = 1, // Philox sequences of a context
    SEQUENCE_DROPOUT = 2,
};

static size_t value_bytes(const heddle_trace_value *value)
{
    return value->elements * heddle_dtype_size(value->dtype);
}

// A failed expression is a NULL that knows no context, so what heddle_backward(NULL) reports is kept by thread.
static _Thread_local struct {
    const heddle_context *context; // only ever compared
    heddle_status status;
    char message[HEDDLE_TENSOR_MESSAGE];
} thread_failure;

// Remembers the first failure of an expression and gives the NULL that is passed on.
heddle_tensor *heddle_tensor_failed(heddle_context *context, heddle_status status)
{
    if (context && context->failure == HEDDLE_OK) {
        context->failure = status;
        thread_failure.context = context;
        thread_failure.status = status;
        snprintf(thread_failure.message, sizeof thread_failure.message, "%s", heddle_last_error());
    }
    return NULL;
}

// What a function says that was given NULL where a tensor should be: why the expression failed, if one did.
static heddle_status no_tensor(const char *needs)
{
    if (thread_failure.context)
        return heddle_fail(thread_failure.status, "%s", thread_failure.message);
    return heddle_fail(HEDDLE_INVALID, "%s, and got NULL", needs);
}

static void forget_failure(heddle_context *context)
{
    context->failure = HEDDLE_OK;
    if (thread_failure.context == context)
        thread_failure.context = NULL;
}

// --- contexts -------------------------------------------------------------------------------------------------------

heddle_status heddle_context_create(heddle_device *device, uint64_t seed, heddle_context **context)
{
    if (!device || !context)
        return heddle_fail(HEDDLE_INVALID, "heddle_context_create needs a device and a place for the context");
    heddle_context *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a context");
    made->device = device;
    made->parameter_random = heddle_random_make(seed, SEQUENCE_PARAMETERS);
    made->dropout_random = heddle_random_make(seed, SEQUENCE_DROPOUT);
    heddle_status status = heddle_stream_create(device, 0, &made->stream);
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    *context = made;
    return HEDDLE_OK;
}

void heddle_tensor_free(heddle_tensor *tensor)
{
    heddle_device *device = tensor->context->device;
    heddle_free(device, tensor->memory);
    heddle_free(device, tensor->gradient);
    heddle_free(device, tensor->moment[0]);
    heddle_free(device, tensor->moment[1]);
    free(tensor);
}

static void free_list(heddle_tensor **list)
{
    while (*list) {
        heddle_tensor *tensor = *list;
        *list = tensor->next;
        heddle_tensor_free(tensor);
    }
}

static void free_trace_memory(heddle_context *context)
{
    for (int i = 0; i < context->trace.value_count; i++) {
        heddle_trace_value *value = &context->trace.values[i];
        bool is_parameter = false;
        for (const heddle_tensor *p = context->parameters; p && !is_parameter; p = p->next)
            is_parameter = value->memory && (value->memory == p->memory || value->memory == p->gradient);
        if (value->root == i && !is_parameter)
            heddle_free(context->device, value->memory);
    }
}

void heddle_context_clear(heddle_context *context)
{
    if (!context)
        return;
    (void)heddle_stream_synchronize(context->stream);
    free_trace_memory(context);
    free_list(&context->tensors);
    heddle_trace_clear(&context->trace);
    for (heddle_tensor *parameter = context->parameters; parameter; parameter = parameter->next)
        parameter->value = HEDDLE_NO_VALUE;
    forget_failure(context);
}

void heddle_context_destroy(heddle_context *context)
{
    if (!context)
        return;
    heddle_context_clear(context);
    free_list(&context->parameters);
    heddle_workspace_destroy(&context->workspace);
    heddle_trace_destroy(&context->trace);
    heddle_stream_destroy(context->stream);
    free(context);
}

// --- making tensors -------------------------------------------------------------------------------------------------

// A handle for a value of the trace.
heddle_tensor *heddle_tensor_of(heddle_context *context, heddle_value value)
{
    heddle_tensor *tensor = calloc(1, sizeof *tensor);
    if (!tensor)
        return heddle_tensor_failed(context, heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a tensor"));
    const heddle_trace_value *from = &context->trace.values[value];
    tensor->context = context;
    tensor->value = value;
    tensor->rank = from->rank;
    tensor->dtype = from->dtype;
    memcpy(tensor->dims, from->dims, sizeof tensor->dims);
    tensor->next = context->tensors;
    context->tensors = tensor;
    return tensor;
}

static heddle_status upload(heddle_context *context, void *memory, const void *values, size_t bytes)
{
    if (bytes == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(values ? heddle_copy(context->stream, memory, values, bytes)
                      : heddle_fill(context->stream, memory, 0, bytes));
    return heddle_stream_synchronize(context->stream); // the caller's values may go away
}

heddle_tensor *heddle_tensor_make(heddle_context *context, heddle_dtype dtype, int rank, const int *dims,
                                  const void *values)
{
    if (!context)
        return NULL;
    heddle_value value;
    heddle_status status = heddle_trace_value_add(&context->trace, "tensor", dtype, rank, dims, &value);
    if (status != HEDDLE_OK)
        return heddle_tensor_failed(context, status);
    heddle_trace_value *added = &context->trace.values[value];
    status = heddle_alloc(context->device, value_bytes(added), &added->memory);
    if (status == HEDDLE_OK)
        status = upload(context, added->memory, values, value_bytes(added));
    return status == HEDDLE_OK ? heddle_tensor_of(context, value) : heddle_tensor_failed(context, status);
}

heddle_tensor *heddle_tensor_create(heddle_context *context, int rank, const int *dims, const float *values)
{
    return heddle_tensor_make(context, HEDDLE_F32, rank, dims, values);
}

heddle_tensor *heddle_tensor_labels(heddle_context *context, int count, const int32_t *values)
{
    return heddle_tensor_make(context, HEDDLE_I32, 1, &count, values);
}

heddle_tensor *heddle_parameter_from(heddle_context *context, int rank, const int *dims, const float *values)
{
    if (!context)
        return NULL;
    size_t elements = 0;
    heddle_status status = heddle_dims_check("parameter", rank, dims, &elements);
    if (status != HEDDLE_OK)
        return heddle_tensor_failed(context, status);
    heddle_tensor *parameter = calloc(1, sizeof *parameter);
    if (!parameter)
        return heddle_tensor_failed(context, heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a parameter"));
    parameter->context = context;
    parameter->value = HEDDLE_NO_VALUE;
    parameter->is_parameter = true;
    parameter->rank = rank;
    if (rank)
        memcpy(parameter->dims, dims, (size_t)rank * sizeof *dims);
    size_t bytes = elements * sizeof(float);
    status = heddle_alloc(context->device, bytes, &parameter->memory);
    if (status == HEDDLE_OK)
        status = heddle_alloc(context->device, bytes, &parameter->gradient);
    if (status == HEDDLE_OK)
        status = upload(context, parameter->memory, values, bytes);
    parameter->next = context->parameters;
    context->parameters = parameter;
    return status == HEDDLE_OK ? parameter : heddle_tensor_failed(context, status);
}

heddle_tensor *heddle_parameter(heddle_context *context, int rank, const int *dims, float bound)
{
    if (!context)
        return NULL;
    size_t elements = 0;
    heddle_status status = heddle_dims_check("parameter", rank, dims, &elements);
    if (status != HEDDLE_OK)
        return heddle_tensor_failed(context, status);
    float *values = malloc((elements ? elements : 1) * sizeof *values);
    if (!values)
        return heddle_tensor_failed(context,
                                    heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %zu initial values", elements));
    for (size_t i = 0; i < elements; i++)
        values[i] = (2.0F * heddle_random_uniform(&context->parameter_random) - 1.0F) * bound;
    heddle_tensor *parameter = heddle_parameter_from(context, rank, dims, values);
    free(values);
    return parameter;
}

// The tensor's value in the current trace; a parameter enters it at its first use.
heddle_status heddle_tensor_value(heddle_tensor *tensor, heddle_value *value)
{
    heddle_trace *trace = &tensor->context->trace;
    if (tensor->value == HEDDLE_NO_VALUE) {
        heddle_value entered, slot; // both, or the tensor stays outside
        HEDDLE_TRY(heddle_trace_value_add(trace, "parameter", HEDDLE_F32, tensor->rank, tensor->dims, &entered));
        HEDDLE_TRY(heddle_trace_value_add(trace, "grad_parameter", HEDDLE_F32, tensor->rank, tensor->dims, &slot));
        tensor->value = entered;
        trace->values[tensor->value].memory = tensor->memory;
        trace->values[tensor->value].needs_gradient = true;
        trace->values[tensor->value].gradient = slot;
        trace->values[slot].memory = tensor->gradient;
    }
    *value = tensor->value;
    return HEDDLE_OK;
}

// --- applying operators ---------------------------------------------------------------------------------------------

// Gives every value from `first` on that has no memory yet some, and runs the nodes from `node` on.
static heddle_status run_from(heddle_context *context, heddle_value first, int node)
{
    heddle_trace *trace = &context->trace;
    for (heddle_value i = first; i < trace->value_count; i++) {
        heddle_trace_value *value = &trace->values[i];
        if (value->root == i && !value->memory)
            HEDDLE_TRY(heddle_alloc(context->device, value_bytes(value), &value->memory));
    }
    for (; node < trace->node_count; node++)
        HEDDLE_TRY(heddle_run_node(trace, node, HEDDLE_FUSED, context->stream, &context->workspace));
    return HEDDLE_OK;
}

// "relu" for relu_forward, and the tensors that the caller gave.
static void note_origin(heddle_tensor *made, const heddle_op *op, const heddle_argument *arguments, int count)
{
    snprintf(made->op, sizeof made->op, "%s", op->name);
    char *suffix = strstr(made->op, "_forward");
    if (suffix)
        *suffix = '\0';
    for (int i = 0; i < count; i++)
        if (arguments[i].tensor && !arguments[i].tensor->released && made->parent_count < HEDDLE_TENSOR_PARENTS)
            made->parents[made->parent_count++] = arguments[i].tensor;
}

// Runs `op_name` on tensors and gives its output `result`.
heddle_tensor *heddle_tensor_apply(heddle_context *context, const char *op_name, const void *shape,
                                   const heddle_argument *arguments, int count, const char *result)
{
    const heddle_op *op;
    heddle_status status = heddle_op_find(op_name, &op);
    heddle_binding bound[HEDDLE_MAX_OPERANDS];
    int bound_count = 0, node = 0;
    for (int i = 0; i < count && status == HEDDLE_OK; i++) {
        if (!arguments[i].tensor)
            continue;
        if (arguments[i].tensor->context != context) {
            status = heddle_fail(HEDDLE_INVALID, "%s: '%s' belongs to another context", op->name, arguments[i].operand);
            break;
        }
        bound[bound_count].operand = arguments[i].operand;
        status = heddle_tensor_value(arguments[i].tensor, &bound[bound_count++].value);
    }
    int first = context->trace.value_count;
    if (status == HEDDLE_OK)
        status = heddle_trace_apply(&context->trace, op, shape, bound, bound_count, &node);
    if (status == HEDDLE_OK)
        status = run_from(context, first, node);
    if (status != HEDDLE_OK)
        return heddle_tensor_failed(context, status);
    heddle_tensor *made = heddle_tensor_of(context, heddle_trace_operand(&context->trace, node, result));
    if (made)
        note_origin(made, op, arguments, count);
    return made;
}

// --- gradients and training -----------------------------------------------------------------------------------------

heddle_status heddle_backward(heddle_tensor *loss)
{
    if (!loss)
        return no_tensor("heddle_backward needs a loss");
    heddle_context *context = loss->context;
    heddle_value from;
    HEDDLE_TRY(heddle_tensor_value(loss, &from));
    int one = 1;
    const float unit = 1.0F;
    heddle_tensor *seed = heddle_tensor_make(context, HEDDLE_F32, 1, &one, &unit);
    if (!seed)
        return context->failure;
    seed->released = true;
    int first_value = context->trace.value_count, first_node = context->trace.node_count;
    HEDDLE_TRY(heddle_trace_differentiate(&context->trace, from, seed->value));
    HEDDLE_TRY(run_from(context, first_value, first_node));
    // A parameter has a gradient if some backward operator now writes its slot.
    for (heddle_tensor *parameter = context->parameters; parameter; parameter = parameter->next) {
        parameter->has_gradient = false;
        heddle_value slot =
            parameter->value == HEDDLE_NO_VALUE ? HEDDLE_NO_VALUE : context->trace.values[parameter->value].gradient;
        for (int node = first_node; node < context->trace.node_count && slot != HEDDLE_NO_VALUE; node++)
            for (int i = 0; i < context->trace.nodes[node].op->operand_count; i++)
                parameter->has_gradient |= context->trace.nodes[node].operand[i] == slot;
    }
    return HEDDLE_OK;
}

// --- looking at them ------------------------------------------------------------------------------------------------

int heddle_tensor_rank(const heddle_tensor *tensor)
{
    return tensor ? tensor->rank : 0;
}

int heddle_tensor_dim(const heddle_tensor *tensor, int index)
{
    return tensor && index >= 0 && index < tensor->rank ? tensor->dims[index] : 0;
}

size_t heddle_tensor_elements(const heddle_tensor *tensor)
{
    size_t elements = tensor ? 1 : 0;
    for (int i = 0; tensor && i < tensor->rank; i++)
        elements *= (size_t)tensor->dims[i];
    return elements;
}

static heddle_status download(const heddle_tensor *tensor, const void *memory, float *values)
{
    heddle_context *context = tensor->context;
    size_t bytes = heddle_tensor_elements(tensor) * sizeof(float);
    HEDDLE_TRY(heddle_stream_synchronize(context->stream));
    if (bytes == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_copy(context->stream, values, memory, bytes));
    return heddle_stream_synchronize(context->stream);
}

heddle_status heddle_tensor_read(const heddle_tensor *tensor, float *values)
{
    if (!tensor || !values)
        return no_tensor("heddle_tensor_read needs a tensor and room for its values");
    if (tensor->dtype != HEDDLE_F32)
        return heddle_fail(HEDDLE_INVALID, "heddle_tensor_read gives floats, and this tensor holds %s",
                           heddle_dtype_name(tensor->dtype));
    const heddle_trace *trace = &tensor->context->trace;
    const void *memory =
        tensor->is_parameter ? tensor->memory : trace->values[trace->values[tensor->value].root].memory;
    return download(tensor, memory, values);
}

heddle_status heddle_tensor_read_gradient(const heddle_tensor *tensor, float *values)
{
    if (!tensor || !values)
        return no_tensor("heddle_tensor_read_gradient needs a tensor and room for its values");
    const heddle_trace *trace = &tensor->context->trace;
    if (tensor->is_parameter && tensor->has_gradient)
        return download(tensor, tensor->gradient, values);
    heddle_value slot =
        tensor->is_parameter ? HEDDLE_NO_VALUE : trace->values[trace->values[tensor->value].root].gradient;
    if (slot == HEDDLE_NO_VALUE)
        return heddle_fail(HEDDLE_INVALID, "this tensor has no gradient; call heddle_backward on a loss that uses it");
    return download(tensor, trace->values[trace->values[slot].root].memory, values);
}

float heddle_tensor_item(const heddle_tensor *tensor)
{
    float item = NAN;
    if (tensor && heddle_tensor_elements(tensor) != 1)
        heddle_fail(HEDDLE_INVALID, "heddle_tensor_item: the tensor has %zu elements, not one",
                    heddle_tensor_elements(tensor));
    else if (heddle_tensor_read(tensor, &item) != HEDDLE_OK)
        return NAN; // the read may have begun
    return item;
}

const char *heddle_tensor_op(const heddle_tensor *tensor)
{
    return tensor ? tensor->op : "";
}

int heddle_tensor_parents(const heddle_tensor *tensor, heddle_tensor **parents, int most)
{
    int count = tensor ? tensor->parent_count : 0;
    for (int i = 0; i < count && i < most; i++)
        parents[i] = tensor->parents[i];
    return count;
}
