// Recognises the course's network, for which one operator computes loss and all gradients straight from the dataset's
// bytes.

#include <string.h>

#include "nn/plan.h"

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

static bool is_course_network(const heddle_model *model)
{
    if (model->layer_count != LAYERS || !heddle_is_block(model, CONV1) || !heddle_is_block(model, CONV2))
        return false;
    const heddle_layer *layers = model->layers;
    const heddle_layer *norm1 = &layers[CONV1 + 1], *norm2 = &layers[CONV2 + 1];
    return strcmp(layers[FLATTEN].type->name, "flatten") == 0 && strcmp(layers[HIDDEN].type->name, "linear") == 0 &&
           strcmp(layers[HIDDEN_RELU].type->name, "relu") == 0 && strcmp(layers[OUTPUT].type->name, "linear") == 0 &&
           layers[HIDDEN].bias && layers[OUTPUT].bias && norm1->epsilon == norm2->epsilon &&
           norm1->momentum == norm2->momentum;
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
static bool find_step(const heddle_plan *plan, const heddle_cnn_step_shape *shape, const heddle_op **op)
{
    const heddle_rung *rung;
    return heddle_op_find("cnn_step", op) == HEDDLE_OK && heddle_shape_validate(*op, shape) == HEDDLE_OK &&
           heddle_rung_choose(*op, heddle_device_get_kind(plan->device), HEDDLE_FUSED, plan->options.arithmetic, shape,
                              &rung) == HEDDLE_OK &&
           rung->tier == HEDDLE_FUSED;
}

heddle_status heddle_plan_fuse(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters,
                               bool *fused)
{
    const heddle_model *model = state->model;
    const heddle_feed *feed = plan->options.feed;
    const heddle_op *op;
    *fused = false;
    // Its batchnorms see what one process has of the batch.
    if (!feed || heddle_plan_ranks(plan) > 1 || !plan->options.training || plan->options.kernels != HEDDLE_FUSED ||
        !is_course_network(model))
        return HEDDLE_OK;
    heddle_cnn_step_shape shape = step_shape(plan, model);
    if (!find_step(plan, &shape, &op))
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
    return heddle_trace_apply(&plan->trace, op, &shape, bound, count, &node);
}
