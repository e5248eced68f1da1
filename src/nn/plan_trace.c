// Builds the trace of a plan: where the batch comes from, the layers, the loss, gradients, the update, and what is left
// to do between two steps.

#include "nn/plan.h"

#include "heddle/ops.h"
#include "nn/infer.h"
#include "nn/rows.h"
#include "nn/run.h"

// Values for the model's parameters, and for their gradients when training.
static heddle_status add_parameters(heddle_plan *plan, heddle_state *state, heddle_value *values)
{
    for (int i = 0; i < state->model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &state->model->parameters[i];
        float *memory = state->bank[heddle_state_bank(state, i)] + state->offset[i];
        HEDDLE_TRY(heddle_plan_value(plan, spec->name, HEDDLE_F32, spec->rank, spec->dims, memory, &values[i]));
        if (!plan->options.training || !spec->trained)
            continue;
        heddle_value gradient;
        memory = state->bank[HEDDLE_BANK_GRADIENTS] + state->offset[i];
        HEDDLE_TRY(heddle_plan_value(plan, "gradient", HEDDLE_F32, spec->rank, spec->dims, memory, &gradient));
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
        HEDDLE_TRY(
            heddle_plan_value(plan, names[i], HEDDLE_F32, 1, &elements, state->bank[banks[i]], &bound[count].value));
        count++;
    }
    bound[count].operand = "hyper";
    HEDDLE_TRY(heddle_plan_value(plan, "hyper", HEDDLE_F32, 1, &hyper_count, state->hyper, &bound[count].value));
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find(updates[plan->options.optimizer].op, &op));
    heddle_update_shape shape = {.n = elements, .undecayed = (int)state->undecayed};
    plan->trace.purpose = (heddle_purpose){.phase = HEDDLE_PHASE_UPDATE};
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

// Device memory that is written and read from outside a step: images, labels, results, the seed gradient and dropout's
// random states.
static heddle_status place_fixed(heddle_plan *plan, const heddle_input_shape *input)
{
    size_t batch = (size_t)plan->options.batch;
    size_t images = batch * (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    const heddle_part parts[] = {
        {(void **)&plan->images, images * sizeof(float)},
        {(void **)&plan->labels, batch * sizeof(int32_t)},
        {(void **)&plan->loss, sizeof(float)},
        {(void **)&plan->correct, sizeof(int32_t)},
        {(void **)&plan->probabilities,
         plan->options.probabilities ? 0 : batch * (size_t)input->classes * sizeof(float)},
        {(void **)&plan->seed, sizeof(float)},
        {(void **)&plan->random, (size_t)HEDDLE_MAX_DROPOUTS * HEDDLE_RANDOM_WORDS * sizeof(int64_t)},
    };
    plan->fixed_bytes = heddle_parts_bytes(parts, sizeof parts / sizeof *parts);
    HEDDLE_TRY(heddle_alloc_parts(plan->device, "a batch", parts, sizeof parts / sizeof *parts, &plan->fixed));
    if (plan->options.probabilities)
        plan->probabilities = plan->options.probabilities;
    return HEDDLE_OK;
}

// Appends an operator all of whose operands have their places.
static heddle_status apply_placed(heddle_plan *plan, const char *name, const void *shape, const heddle_placed *placed,
                                  int count)
{
    heddle_binding bound[HEDDLE_MAX_OPERANDS];
    const heddle_op *op;
    int node;
    HEDDLE_TRY(heddle_op_find(name, &op));
    HEDDLE_TRY(heddle_plan_place(plan, op, shape, placed, count, bound));
    return heddle_trace_apply(&plan->trace, op, shape, bound, count, &node);
}

// The batch, out of the feed.
static heddle_status add_gather(heddle_plan *plan, const heddle_input_shape *input)
{
    const heddle_feed *feed = plan->options.feed;
    heddle_gather_shape shape = {
        .n = plan->options.batch,
        .count = feed->rows,
        .length = feed->length,
        .pixels = input->channels * input->height * input->width,
        .h = feed->moves ? input->height : 0,
        .w = feed->moves ? input->width : 0,
    };
    const heddle_placed placed[] = {
        {"dataset", feed->images},        {"dataset_labels", feed->labels}, {"order", feed->order},
        {"cursor", feed->report->cursor}, {"images", plan->images},         {"labels", plan->labels},
        {"moves", feed->moves},
    };
    plan->trace.purpose = (heddle_purpose){.phase = HEDDLE_PHASE_LOAD};
    HEDDLE_TRY(apply_placed(plan, "gather", &shape, placed, sizeof placed / sizeof *placed - !feed->moves));
    plan->trace.purpose = (heddle_purpose){.phase = HEDDLE_PHASE_FORWARD};
    return HEDDLE_OK;
}

static heddle_status add_step_end(heddle_plan *plan, const heddle_state *state, bool may_overflow)
{
    const heddle_feed *feed = plan->options.feed;
    heddle_step_end_shape shape = {.n = plan->options.batch, .length = feed->steps};
    const heddle_placed placed[] = {
        {"loss", plan->loss},
        {"correct", plan->correct},
        {"cursor", feed->report->cursor},
        {"tally", feed->report->tally},
        {"schedule", feed->schedule}, // these two for an update to follow
        {"hyper", state->hyper},
        {"grad", state->bank[HEDDLE_BANK_GRADIENTS]}, // where all of them are no numbers, the step was left out
    };
    enum { EVALUATION = 4, TRAINING = 6, HALF = TRAINING + 1 };
    int count = !plan->options.training ? EVALUATION : may_overflow ? HALF : TRAINING;
    plan->trace.purpose = (heddle_purpose){.phase = HEDDLE_PHASE_UPDATE};
    return apply_placed(plan, "step_end", &shape, placed, count);
}

// logits → loss, number of right answers, probabilities
static heddle_status add_loss(heddle_plan *plan, heddle_value logits, heddle_value labels, heddle_value *loss)
{
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find("cross_entropy_forward", &op));
    int one = 1, classes = plan->trace.values[logits].dims[1], batch = plan->options.batch;
    int grid[] = {batch, classes};
    heddle_value correct, probabilities;
    HEDDLE_TRY(heddle_plan_value(plan, "loss", HEDDLE_F32, 1, &one, plan->loss, loss));
    HEDDLE_TRY(heddle_plan_value(plan, "correct", HEDDLE_I32, 1, &one, plan->correct, &correct));
    HEDDLE_TRY(heddle_plan_value(plan, "probabilities", HEDDLE_F32, 2, grid, plan->probabilities, &probabilities));
    plan->trace.values[plan->trace.values[*loss].root].needs_gradient = plan->options.training;
    heddle_binding bound[] = {{"logits", logits},
                              {"labels", labels},
                              {"loss", *loss},
                              {"correct", correct},
                              {"probabilities", probabilities}};
    heddle_rows_shape shape = {.rows = batch, .cols = classes};
    int node;
    plan->trace.purpose = (heddle_purpose){.phase = HEDDLE_PHASE_FORWARD, .layer = "loss"};
    return heddle_trace_apply(&plan->trace, op, &shape, bound, 5, &node);
}

// The layers, the loss and, when training, the gradients, as the model has them.
static heddle_status add_model(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters)
{
    const heddle_input_shape *input = &state->model->input;
    int batch = plan->options.batch, one = 1;
    int image_dims[] = {batch, input->channels, input->height, input->width};
    heddle_value images, labels, logits, loss, seed;
    if (plan->options.feed)
        HEDDLE_TRY(add_gather(plan, input));
    HEDDLE_TRY(heddle_plan_value(plan, "images", HEDDLE_F32, 4, image_dims, plan->images, &images));
    HEDDLE_TRY(heddle_plan_value(plan, "labels", HEDDLE_I32, 1, &batch, plan->labels, &labels));
    HEDDLE_TRY(heddle_lower_model(&plan->lowering, images, &logits));
    for (int i = 0; i < plan->lowering.dropouts; i++)
        plan->trace.values[plan->lowering.dropout_random[i]].memory = plan->random + (size_t)i * HEDDLE_RANDOM_WORDS;
    HEDDLE_TRY(add_loss(plan, logits, labels, &loss));
    if (!plan->options.training)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_plan_value(plan, "seed", HEDDLE_F32, 1, &one, plan->seed, &seed));
    HEDDLE_TRY(heddle_trace_differentiate(&plan->trace, loss, seed));
    // On cpu the rungs add up by themselves (ops/across.h).
    if (heddle_plan_ranks(plan) > 1 && heddle_device_get_kind(plan->device) != HEDDLE_CPU)
        HEDDLE_TRY(heddle_plan_spread(plan));
    return check_gradients(plan, state, parameters);
}

heddle_status heddle_plan_trace(heddle_plan *plan, heddle_state *state, heddle_stream *stream, heddle_value *parameters)
{
    bool fused, rows = false;
    HEDDLE_TRY(place_fixed(plan, &state->model->input));
    HEDDLE_TRY(add_parameters(plan, state, parameters));
    plan->lowering = (heddle_lowering){
        .trace = &plan->trace,
        .model = state->model,
        .batch = plan->options.batch,
        .training = plan->options.training,
        .kernels = plan->options.kernels,
        .several_ranks = heddle_plan_ranks(plan) > 1,
        .arithmetic = plan->options.arithmetic,
        .device = heddle_device_get_kind(plan->device),
        .parameters = parameters,
    };
    HEDDLE_TRY(heddle_plan_fuse_steps(plan, state, &plan->whole_steps));
    if (plan->whole_steps)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_plan_fuse(plan, state, parameters, &fused));
    if (!plan->options.training)
        HEDDLE_TRY(heddle_plan_infer_alone(plan, state, stream, &rows));
    if (!plan->options.training && !rows)
        HEDDLE_TRY(heddle_plan_infer_rows(plan, state, stream, parameters, &rows));
    if (plan->options.training && !fused && state->undecayed == 0) // rows_update decays all parameters
        HEDDLE_TRY(heddle_plan_rows(plan, state, stream, parameters, &rows));
    if (!fused && !rows)
        HEDDLE_TRY(add_model(plan, state, parameters));
    if (!rows || plan->options.keep_gradients)
        plan->update_call = plan->trace.node_count;
    if (plan->options.training && (!rows || plan->options.keep_gradients))
        HEDDLE_TRY(add_update(plan, state));
    // Rows cut numbers off at the largest of fp16.
    const bool may_overflow = !rows && plan->options.arithmetic == HEDDLE_FP16;
    return plan->options.feed && !plan->options.predicts ? add_step_end(plan, state, may_overflow) : HEDDLE_OK;
}
