// Recognises the course's network, for which one operator computes loss and all gradients straight from the dataset's
// bytes, or whole steps, update included.

#include <string.h>

#include "nn/plan.h"
#include "ops/cnn_train/cnn_train.h"

enum {
    CONV1 = 0,
    CONV2 = CONV1 + HEDDLE_BLOCK_LAYERS,
    FLATTEN = CONV2 + HEDDLE_BLOCK_LAYERS,
    HIDDEN,
    HIDDEN_RELU,
    OUTPUT,
    LAYERS,
    MOST_BOUND = 2 * HEDDLE_MAX_OPERANDS,
};

// Which parameter of which layer each operand is; `trained` ones have a gradient beside them.
static const struct {
    const char *operand;
    int layer;
    const char *parameter;
    const char *gradient; // NULL: a statistic
} operands[] = {
    {"conv1_weight", CONV1, "weight", "grad_conv1_weight"},
    {"conv1_bias", CONV1, "bias", "grad_conv1_bias"},
    {"gamma1", CONV1 + 1, "weight", "grad_gamma1"},
    {"beta1", CONV1 + 1, "bias", "grad_beta1"},
    {"conv2_weight", CONV2, "weight", "grad_conv2_weight"},
    {"conv2_bias", CONV2, "bias", "grad_conv2_bias"},
    {"gamma2", CONV2 + 1, "weight", "grad_gamma2"},
    {"beta2", CONV2 + 1, "bias", "grad_beta2"},
    {"hidden_weight", HIDDEN, "weight", "grad_hidden_weight"},
    {"hidden_bias", HIDDEN, "bias", "grad_hidden_bias"},
    {"output_weight", OUTPUT, "weight", "grad_output_weight"},
    {"output_bias", OUTPUT, "bias", "grad_output_bias"},
    {"running_mean1", CONV1 + 1, "running_mean", NULL},
    {"running_var1", CONV1 + 1, "running_var", NULL},
    {"running_mean2", CONV2 + 1, "running_mean", NULL},
    {"running_var2", CONV2 + 1, "running_var", NULL},
};
enum { OPERANDS = sizeof operands / sizeof *operands };

static bool is_mnist_cnn(const heddle_model *model)
{
    const heddle_layer *layers = model->layers;
    if (model->layer_count != LAYERS || !heddle_is_block(layers + CONV1, HEDDLE_BLOCK_LAYERS) ||
        !heddle_is_block(layers + CONV2, HEDDLE_BLOCK_LAYERS))
        return false;
    const heddle_layer *norm1 = &layers[CONV1 + 1], *norm2 = &layers[CONV2 + 1];
    return strcmp(layers[FLATTEN].type->name, "flatten") == 0 && strcmp(layers[HIDDEN].type->name, "linear") == 0 &&
           strcmp(layers[HIDDEN_RELU].type->name, "relu") == 0 && strcmp(layers[OUTPUT].type->name, "linear") == 0 &&
           layers[HIDDEN].bias && layers[OUTPUT].bias && norm1->epsilon == norm2->epsilon &&
           norm1->momentum == norm2->momentum;
}

// These operators take images as they are on the device: where each is moved first, gather has to do it.
static bool reads_dataset(const heddle_feed *feed)
{
    return feed && !feed->moves;
}

static heddle_purpose whole_step(const heddle_model *model)
{
    return (heddle_purpose){.phase = HEDDLE_PHASE_FUSED, .layer = model->layers[0].name, .last = "loss"};
}

static heddle_cnn_step_shape step_shape(const heddle_plan *plan, const heddle_model *model)
{
    const heddle_feed *feed = plan->options.feed;
    return (heddle_cnn_step_shape){
        .n = plan->options.batch,
        .count = feed->rows,
        .length = feed->length,
        .c = model->input.channels,
        .h = model->input.height,
        .w = model->input.width,
        .k1 = model->layers[CONV1].channels,
        .k2 = model->layers[CONV2].channels,
        .hidden = model->layers[HIDDEN].features,
        .classes = model->input.classes,
        .epsilon = model->layers[CONV1 + 1].epsilon,
        .momentum = model->layers[CONV1 + 1].momentum,
    };
}

// Is there a fused rung for it? Quiet where there is none: that is no failure.
static bool find_fused(const heddle_plan *plan, const char *name, const void *shape, const heddle_op **op,
                       const heddle_rung **rung)
{
    return heddle_op_find(name, op) == HEDDLE_OK && heddle_shape_validate(*op, shape) == HEDDLE_OK &&
           heddle_rung_choose(*op, heddle_device_get_kind(plan->device), HEDDLE_FUSED, plan->options.arithmetic, shape,
                              rung) == HEDDLE_OK &&
           (*rung)->tier == HEDDLE_FUSED;
}

// --- whole steps ----------------------------------------------------------------------------------------------------

static heddle_cnn_train_shape train_shape(const heddle_plan *plan, const heddle_model *model)
{
    const heddle_cnn_step_shape step = step_shape(plan, model);
    return (heddle_cnn_train_shape){
        .n = step.n,
        .count = step.count,
        .length = step.length,
        .steps = plan->options.several > 1 ? plan->options.several : 1,
        .rows = plan->options.feed->steps,
        .optimizer = (int)plan->options.optimizer,
        .bias = model->layers[CONV1].bias,
        .c = step.c,
        .h = step.h,
        .w = step.w,
        .k1 = step.k1,
        .k2 = step.k2,
        .hidden = step.hidden,
        .classes = step.classes,
        .epsilon = step.epsilon,
        .momentum = step.momentum,
    };
}

// Whether the state's banks are laid out as cnn_train has them.
static bool layout_matches(const heddle_state *state, const heddle_cnn_train_shape *shape)
{
    const heddle_cnn_train_bank banks[] = {heddle_cnn_train_parameters(shape), heddle_cnn_train_statistics(shape)};
    for (int i = 0; i < OPERANDS; i++) {
        int index = heddle_model_parameter_index(state->model, state->model->layers[operands[i].layer].name,
                                                 operands[i].parameter);
        int at = i < HEDDLE_CNN_PARAMETERS ? banks[0].at[i] : banks[1].at[i - HEDDLE_CNN_PARAMETERS];
        if (index < 0 ? at >= 0 : at < 0 || (size_t)at != state->offset[index])
            return false;
    }
    return state->floats[HEDDLE_BANK_PARAMETERS] == (size_t)banks[0].floats &&
           state->floats[HEDDLE_BANK_STATISTICS] == (size_t)banks[1].floats;
}

// Not where gradients are wanted, to exchange them with other ranks or to look at them: cnn_train uses them up. Nor
// where some parameters have no weight decay. And it has fewer rungs than cnn_step: not where that one's choice is
// another.
heddle_status heddle_plan_fuse_steps(heddle_plan *plan, const heddle_state *state, bool *fused)
{
    const heddle_feed *feed = plan->options.feed;
    const heddle_op *op, *one;
    const heddle_rung *rung, *single;
    *fused = false;
    if (!reads_dataset(feed) || heddle_plan_ranks(plan) > 1 || plan->options.keep_gradients || state->undecayed > 0 ||
        !plan->options.training || plan->options.kernels != HEDDLE_FUSED || !is_mnist_cnn(state->model))
        return HEDDLE_OK;
    const heddle_cnn_train_shape shape = train_shape(plan, state->model);
    const heddle_cnn_step_shape step = step_shape(plan, state->model);
    if (!layout_matches(state, &shape) || !find_fused(plan, "cnn_train", &shape, &op, &rung) ||
        !find_fused(plan, "cnn_step", &step, &one, &single) || strcmp(rung->name, single->name) != 0)
        return HEDDLE_OK;
    const heddle_placed placed[] = {
        {"images", feed->images},
        {"labels", feed->labels},
        {"order", feed->order},
        {"schedule", feed->schedule},
        {"parameters", state->bank[HEDDLE_BANK_PARAMETERS]},
        {"statistics", state->bank[HEDDLE_BANK_STATISTICS]},
        {"cursor", feed->report->cursor},
        {"tally", feed->report->tally},
        {"hyper", state->hyper},
        {"loss", plan->loss},
        {"correct", plan->correct},
        {"first_moment", state->bank[HEDDLE_BANK_MOMENT1]},
        {"second_moment", state->bank[HEDDLE_BANK_MOMENT2]},
    };
    enum { PLACED = sizeof placed / sizeof *placed };
    heddle_binding bound[PLACED];
    int node;
    HEDDLE_TRY(heddle_plan_place(plan, op, &shape, placed, PLACED, bound));
    *fused = true;
    plan->trace.purpose = whole_step(state->model);
    return heddle_trace_apply(&plan->trace, op, &shape, bound, PLACED, &node);
}

// --- a step without its update --------------------------------------------------------------------------------------

heddle_status heddle_plan_fuse(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters,
                               bool *fused)
{
    const heddle_model *model = state->model;
    const heddle_feed *feed = plan->options.feed;
    const heddle_op *op;
    const heddle_rung *rung;
    *fused = false;
    // Its batchnorms see what one process has of the batch.
    if (!reads_dataset(feed) || heddle_plan_ranks(plan) > 1 || !plan->options.training ||
        plan->options.kernels != HEDDLE_FUSED || !is_mnist_cnn(model))
        return HEDDLE_OK;
    heddle_cnn_step_shape shape = step_shape(plan, model);
    if (!find_fused(plan, "cnn_step", &shape, &op, &rung))
        return HEDDLE_OK;
    const heddle_placed placed[] = {
        {"images", feed->images},         {"labels", feed->labels}, {"order", feed->order},
        {"cursor", feed->report->cursor}, {"loss", plan->loss},     {"correct", plan->correct},
    };
    enum { PLACED = sizeof placed / sizeof *placed };
    heddle_binding bound[MOST_BOUND];
    int count = PLACED, node;
    HEDDLE_TRY(heddle_plan_place(plan, op, &shape, placed, PLACED, bound));
    for (int i = 0; i < OPERANDS; i++) {
        int index = heddle_model_parameter_index(model, model->layers[operands[i].layer].name, operands[i].parameter);
        if (index < 0)
            continue; // a convolution without bias
        heddle_value value = parameters[index];
        bound[count++] = (heddle_binding){operands[i].operand, value};
        if (operands[i].gradient)
            bound[count++] = (heddle_binding){operands[i].gradient, plan->trace.values[value].gradient};
    }
    *fused = true;
    plan->trace.purpose = whole_step(model);
    return heddle_trace_apply(&plan->trace, op, &shape, bound, count, &node);
}
