// Compiles a model into a plan and runs it: lower, differentiate, append the update, choose rungs, lay out memory,
// capture the step as a graph.

#include "nn/plan.h"

#include <stdlib.h>

#include "heddle/ops.h"
#include "nn/layout.h"
#include "nn/run.h"

enum { ALIGNMENT = 256 };

// --- the trace ------------------------------------------------------------------------------------------------------

// A value in memory that is already there.
static heddle_status placed_value(heddle_plan *plan, const char *name, heddle_dtype dtype, int rank, const int *dims,
                                  void *memory, heddle_value *value)
{
    HEDDLE_TRY(heddle_trace_value_add(&plan->trace, name, dtype, rank, dims, value));
    plan->trace.values[*value].memory = memory;
    return HEDDLE_OK;
}

// Values for the model's parameters, and for their gradients when training.
static heddle_status add_parameters(heddle_plan *plan, heddle_state *state, heddle_value *values)
{
    for (int i = 0; i < state->model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &state->model->parameters[i];
        float *memory = state->bank[heddle_state_bank(state, i)] + state->offset[i];
        HEDDLE_TRY(placed_value(plan, spec->name, HEDDLE_F32, spec->rank, spec->dims, memory, &values[i]));
        if (!plan->options.training || !spec->trained)
            continue;
        heddle_value gradient;
        memory = state->bank[HEDDLE_BANK_GRADIENTS] + state->offset[i];
        HEDDLE_TRY(placed_value(plan, "gradient", HEDDLE_F32, spec->rank, spec->dims, memory, &gradient));
        plan->trace.values[values[i]].needs_gradient = true;
        plan->trace.values[values[i]].gradient = gradient;
    }
    return HEDDLE_OK;
}

// One application updates all parameters: they stand in one flat buffer, and so do their gradients and moments.
static heddle_status add_update(heddle_plan *plan, heddle_state *state)
{
    static const struct {
        const char *op, *moment1, *moment2;
    } updates[] = {
        [HEDDLE_SGD] = {"sgd_update", NULL, NULL},
        [HEDDLE_MOMENTUM] = {"momentum_update", "velocity", NULL},
        [HEDDLE_ADAMW] = {"adamw_update", "first_moment", "second_moment"},
    };
    const char *names[] = {"grad", "parameter", updates[plan->options.optimizer].moment1,
                           updates[plan->options.optimizer].moment2};
    const heddle_bank banks[] = {HEDDLE_BANK_GRADIENTS, HEDDLE_BANK_PARAMETERS, HEDDLE_BANK_MOMENT1,
                                 HEDDLE_BANK_MOMENT2};
    heddle_binding bound[5];
    int count = 0, elements = (int)state->floats[HEDDLE_BANK_PARAMETERS], hyper_count = HEDDLE_HYPER_COUNT, node;
    for (int i = 0; i < 4; i++) {
        if (!names[i])
            continue;
        bound[count].operand = names[i];
        HEDDLE_TRY(placed_value(plan, names[i], HEDDLE_F32, 1, &elements, state->bank[banks[i]], &bound[count].value));
        count++;
    }
    bound[count].operand = "hyper";
    HEDDLE_TRY(placed_value(plan, "hyper", HEDDLE_F32, 1, &hyper_count, state->hyper, &bound[count].value));
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find(updates[plan->options.optimizer].op, &op));
    heddle_elements_shape shape = {.n = elements};
    return heddle_trace_apply(&plan->trace, op, &shape, bound, count + 1, &node);
}

// Every trained parameter must get its gradient, or the update would use stale memory.
static heddle_status check_gradients(const heddle_plan *plan, const heddle_state *state, const heddle_value *values)
{
    for (int i = 0; i < state->model->parameter_count; i++) {
        if (!state->model->parameters[i].trained)
            continue;
        heddle_value gradient = plan->trace.values[values[i]].gradient;
        bool written = false;
        for (int node = 0; node < plan->trace.node_count && !written; node++)
            for (int j = 0; j < plan->trace.nodes[node].op->operand_count; j++)
                written |= plan->trace.nodes[node].operand[j] == gradient;
        if (!written)
            return heddle_fail(HEDDLE_INTERNAL, "no operator gives the gradient of %s",
                               state->model->parameters[i].name);
    }
    return HEDDLE_OK;
}

// Device memory the host reads and writes: images, labels, results, the seed gradient and dropout's random states.
static heddle_status place_fixed(heddle_plan *plan, const heddle_input_shape *input)
{
    size_t batch = (size_t)plan->options.batch;
    size_t images = batch * (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    const struct {
        void **place;
        size_t bytes;
    } parts[] = {
        {(void **)&plan->images, images * sizeof(float)},
        {(void **)&plan->labels, batch * sizeof(int32_t)},
        {(void **)&plan->loss, sizeof(float)},
        {(void **)&plan->correct, sizeof(int32_t)},
        {(void **)&plan->probabilities, batch * (size_t)input->classes * sizeof(float)},
        {(void **)&plan->seed, sizeof(float)},
        {(void **)&plan->random, (size_t)HEDDLE_MAX_DROPOUTS * HEDDLE_RANDOM_WORDS * sizeof(int64_t)},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    size_t total = 0, offset[PARTS];
    for (int i = 0; i < PARTS; i++) {
        offset[i] = total;
        total += (parts[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    HEDDLE_TRY(heddle_alloc(plan->device, total, &plan->fixed));
    for (int i = 0; i < PARTS; i++)
        *parts[i].place = (char *)plan->fixed + offset[i];
    return HEDDLE_OK;
}

// logits → loss, number of right answers, probabilities
static heddle_status add_loss(heddle_plan *plan, heddle_value logits, heddle_value labels, heddle_value *loss)
{
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find("cross_entropy_forward", &op));
    int one = 1, classes = plan->trace.values[logits].dims[1], batch = plan->options.batch;
    int grid[] = {batch, classes};
    heddle_value correct, probabilities;
    HEDDLE_TRY(placed_value(plan, "loss", HEDDLE_F32, 1, &one, plan->loss, loss));
    HEDDLE_TRY(placed_value(plan, "correct", HEDDLE_I32, 1, &one, plan->correct, &correct));
    HEDDLE_TRY(placed_value(plan, "probabilities", HEDDLE_F32, 2, grid, plan->probabilities, &probabilities));
    plan->trace.values[plan->trace.values[*loss].root].needs_gradient = plan->options.training;
    heddle_binding bound[] = {{"logits", logits},
                              {"labels", labels},
                              {"loss", *loss},
                              {"correct", correct},
                              {"probabilities", probabilities}};
    heddle_rows_shape shape = {.rows = batch, .cols = classes};
    int node;
    return heddle_trace_apply(&plan->trace, op, &shape, bound, 5, &node);
}

static heddle_status build_trace(heddle_plan *plan, heddle_state *state, heddle_value *parameters)
{
    const heddle_input_shape *input = &state->model->input;
    int batch = plan->options.batch;
    int image_dims[] = {batch, input->channels, input->height, input->width};
    heddle_value images, labels, logits, loss, seed;
    HEDDLE_TRY(place_fixed(plan, input));
    HEDDLE_TRY(placed_value(plan, "images", HEDDLE_F32, 4, image_dims, plan->images, &images));
    HEDDLE_TRY(placed_value(plan, "labels", HEDDLE_I32, 1, &batch, plan->labels, &labels));
    HEDDLE_TRY(add_parameters(plan, state, parameters));
    plan->lowering = (heddle_lowering){
        .trace = &plan->trace,
        .model = state->model,
        .batch = batch,
        .training = plan->options.training,
        .kernels = plan->options.kernels,
        .arithmetic = plan->options.arithmetic,
        .device = heddle_device_get_kind(plan->device),
        .parameters = parameters,
    };
    HEDDLE_TRY(heddle_lower_model(&plan->lowering, images, &logits));
    for (int i = 0; i < plan->lowering.dropouts; i++)
        plan->trace.values[plan->lowering.dropout_random[i]].memory = plan->random + (size_t)i * HEDDLE_RANDOM_WORDS;
    HEDDLE_TRY(add_loss(plan, logits, labels, &loss));
    if (!plan->options.training)
        return HEDDLE_OK;
    int one = 1;
    HEDDLE_TRY(placed_value(plan, "seed", HEDDLE_F32, 1, &one, plan->seed, &seed));
    HEDDLE_TRY(heddle_trace_differentiate(&plan->trace, loss, seed));
    HEDDLE_TRY(check_gradients(plan, state, parameters));
    return add_update(plan, state);
}

// --- memory and calls -----------------------------------------------------------------------------------------------

static heddle_status place_values(heddle_plan *plan)
{
    size_t *offset = calloc((size_t)plan->trace.value_count + 1, sizeof *offset);
    if (!offset)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to lay out a plan");
    heddle_status status = heddle_layout(&plan->trace, offset, &plan->arena_bytes, &plan->values_bytes);
    if (status == HEDDLE_OK)
        status = heddle_alloc(plan->device, plan->arena_bytes, &plan->arena);
    for (int i = 0; i < plan->trace.value_count && status == HEDDLE_OK; i++) {
        heddle_trace_value *value = &plan->trace.values[i];
        if (value->root == i && !value->memory && plan->arena)
            value->memory = (char *)plan->arena + offset[i];
    }
    free(offset);
    return status;
}

static heddle_status choose_rungs(heddle_plan *plan)
{
    heddle_trace *trace = &plan->trace;
    plan->calls = calloc((size_t)trace->node_count, sizeof *plan->calls);
    if (!plan->calls)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the calls of a plan");
    plan->call_count = trace->node_count;
    for (int i = 0; i < trace->node_count; i++) {
        heddle_planned_call *planned = &plan->calls[i];
        planned->op = trace->nodes[i].op;
        HEDDLE_TRY(heddle_rung_choose(planned->op, heddle_device_get_kind(plan->device), plan->options.kernels,
                                      plan->options.arithmetic, trace->nodes[i].shape, &planned->rung));
        size_t bytes = heddle_rung_workspace(planned->rung, trace->nodes[i].shape, plan->device);
        if (bytes > plan->workspace_bytes)
            plan->workspace_bytes = bytes;
    }
    // Calls of a plan run one after another, so one workspace serves them all.
    HEDDLE_TRY(heddle_alloc(plan->device, plan->workspace_bytes, &plan->workspace));
    for (int i = 0; i < trace->node_count; i++) {
        heddle_planned_call *planned = &plan->calls[i];
        planned->call.workspace = plan->workspace;
        heddle_node_call(trace, &trace->nodes[i], &planned->call);
    }
    return HEDDLE_OK;
}

// The gradient of the loss with respect to itself.
static heddle_status upload_seed(heddle_plan *plan, heddle_stream *stream)
{
    const float unit = 1.0F;
    HEDDLE_TRY(heddle_copy(stream, plan->seed, &unit, sizeof unit));
    return heddle_stream_synchronize(stream);
}

static heddle_status capture(heddle_plan *plan, heddle_stream *stream)
{
    HEDDLE_TRY(heddle_capture_begin(stream));
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < plan->call_count && status == HEDDLE_OK; i++) {
        plan->calls[i].call.stream = stream;
        status = heddle_launch(plan->calls[i].op, plan->calls[i].rung, &plan->calls[i].call);
    }
    heddle_status ended = heddle_capture_end(stream, &plan->graph);
    return status != HEDDLE_OK ? status : ended;
}

heddle_status heddle_plan_create(heddle_state *state, heddle_stream *stream, const heddle_plan_options *options,
                                 heddle_plan **plan)
{
    if (options->batch < 1)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d; it must be at least 1", options->batch);
    heddle_plan *made = calloc(1, sizeof *made);
    heddle_value *parameters = calloc((size_t)state->model->parameter_count + 1, sizeof *parameters);
    if (!made || !parameters) {
        free(made);
        free(parameters);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a plan");
    }
    made->device = state->device;
    made->options = *options;
    heddle_status status = build_trace(made, state, parameters);
    if (status == HEDDLE_OK)
        status = place_values(made);
    if (status == HEDDLE_OK)
        status = choose_rungs(made);
    if (status == HEDDLE_OK)
        status = upload_seed(made, stream);
    if (status == HEDDLE_OK)
        status = capture(made, stream);
    free(parameters);
    made->lowering.parameters = NULL;
    if (status != HEDDLE_OK) {
        heddle_plan_destroy(made);
        return heddle_fail_within(status, "planning a step of model %s, batch %d", state->model->name, options->batch);
    }
    *plan = made;
    return HEDDLE_OK;
}

void heddle_plan_destroy(heddle_plan *plan)
{
    if (!plan)
        return;
    if (plan->graph)
        heddle_graph_destroy(plan->graph);
    heddle_free(plan->device, plan->fixed);
    heddle_free(plan->device, plan->arena);
    heddle_free(plan->device, plan->workspace);
    heddle_trace_destroy(&plan->trace);
    free(plan->calls);
    free(plan);
}

heddle_status heddle_plan_run(heddle_plan *plan, heddle_stream *stream)
{
    return heddle_graph_launch(plan->graph, stream);
}
