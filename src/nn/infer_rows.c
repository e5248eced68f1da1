// Predictions over rows: the forward operators of a training step without batchnorm, the first layers as one operator,
// products that pool their results themselves, and at the end probabilities instead of gradients.

#include <stdlib.h>

#include "nn/infer.h"
#include "nn/rows_build.h"
#include "ops/rows_conv/rows_conv.h"
#include "ops/rows_stem/rows_stem.h"

static bool is_for_rows(heddle_device_kind device, heddle_tier kernels, heddle_arithmetic arithmetic)
{
    // On a CPU bytes alone, so that their accuracy can be known without a GPU.
    return kernels == HEDDLE_FUSED && arithmetic != HEDDLE_FULL && (device != HEDDLE_CPU || arithmetic == HEDDLE_INT8);
}

// The type of elements. Before calibrating, int8 is 16 bits with the channels that bytes will have.
static void set_element(heddle_rows *rows, heddle_arithmetic arithmetic, bool calibrated)
{
    rows->pairs = rows->update.pairs = arithmetic == HEDDLE_TF32X3;
    rows->half = rows->update.half = arithmetic != HEDDLE_BFLOAT && !rows->pairs;
    rows->int8 = arithmetic == HEDDLE_INT8 && calibrated;
    rows->alignment = arithmetic == HEDDLE_INT8 ? HEDDLE_ROWS_BYTE_ALIGNMENT : HEDDLE_ROWS_ALIGNMENT;
}

// Groups the layers; false where some of them need statistics of a batch, or there are many classes.
static bool group_layers(const heddle_model *model, int batch, heddle_rows *rows)
{
    if (!heddle_rows_group_layers(model, batch, rows))
        return false;
    for (int i = 0; i < rows->group_count; i++)
        if (rows->groups[i].norm)
            return false;
    return heddle_rows_has_head(rows);
}

bool heddle_infer_by_rows(const heddle_model *model, int batch, heddle_device_kind device, heddle_tier kernels,
                          heddle_arithmetic arithmetic)
{
    heddle_rows *rows = is_for_rows(device, kernels, arithmetic) ? calloc(1, sizeof *rows) : NULL;
    if (rows)
        set_element(rows, arithmetic, false);
    const bool grouped = rows && group_layers(model, batch, rows);
    free(rows);
    return grouped;
}

// --- the first group as one operator ---------------------------------------------------------------------------------

// The first group, from bytes to the frame that it leaves.
static heddle_rows_stem_shape stem_shape(const heddle_plan *plan, const heddle_rows_group *group,
                                         const heddle_input_shape *input)
{
    const heddle_layer *layer = group->product;
    return (heddle_rows_stem_shape){
        .n = plan->options.batch,
        .count = plan->options.feed->rows,
        .length = plan->options.feed->length,
        .c = input->channels,
        .h = input->height,
        .w = input->width,
        .r = layer->kernel,
        .s = layer->kernel,
        .stride = layer->stride,
        .padding = layer->padding,
        .dilation = layer->dilation,
        .columns = group->shape.c,
        .k = group->shape.k,
        .function = (int)group->function,
        .window = group->window,
        .average = group->average,
        .gap = group->gap,
        .half = group->shape.half,
        .pairs = group->shape.pairs,
        .int8 = group->shape.int8,
    };
}

// Whether rows_stem computes all of the first group.
static bool is_stem(const heddle_plan *plan, const heddle_model *model, const heddle_rows_group *group)
{
    const heddle_layer *layer = group->product;
    if (group->in_trunk || !layer || layer->in_rank != 3 || !group->passes || group->around >= 0 || group->from >= 0 ||
        (group->flat && group->shape.pairs))
        return false;
    const heddle_rows_stem_shape shape = stem_shape(plan, group, &model->input);
    return heddle_rows_stem_fits(&shape);
}

// The first convolution with what follows it.
static heddle_status stem(heddle_rows_builder *builder, heddle_rows_group *group, bool *done)
{
    *done = group->in_stem;
    if (!group->in_stem)
        return HEDDLE_OK;
    heddle_plan *plan = builder->plan;
    const heddle_rows_stem_shape shape = stem_shape(plan, group, &builder->state->model->input);
    const heddle_feed *feed = plan->options.feed;
    const heddle_placed places[] = {
        {"dataset", feed->images},        {"dataset_labels", feed->labels}, {"order", feed->order},
        {"cursor", feed->report->cursor}, {"labels", plan->labels},
    };
    enum { PLACES = sizeof places / sizeof *places };
    heddle_rows_bindings bound = {.count = PLACES};
    heddle_value weight, bias;
    const heddle_op *op;
    int node;
    HEDDLE_TRY(heddle_op_find("rows_stem", &op));
    HEDDLE_TRY(heddle_plan_place(plan, op, &shape, places, PLACES, bound.bound));
    HEDDLE_TRY(heddle_rows_weight(builder, group, &weight));
    HEDDLE_TRY(heddle_rows_bias(builder, group, &bias));
    heddle_rows_bind(&bound, "weight", weight);
    heddle_rows_bind(&bound, "bias", bias);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_stem", &shape, &bound, &node));
    group->left = heddle_rows_output(builder, node, "output");
    group->output = HEDDLE_NO_VALUE;
    builder->labels = heddle_rows_output(builder, node, "labels");
    return HEDDLE_OK;
}

// --- products with pooling -------------------------------------------------------------------------------------------

// Makes a convolution and what follows it one operator, where the device has a rung made for that. Calibrating looks at
// results that are not pooled.
static void set_pools(const heddle_plan *plan, heddle_rows_group *group)
{
    const heddle_device_kind device = heddle_device_get_kind(plan->device);
    const bool calibrates = plan->options.arithmetic == HEDDLE_INT8 && !group->shape.int8;
    if (group->in_trunk || group->in_stem || !group->product || group->product->in_rank != 3 || !group->passes ||
        group->around >= 0 || calibrates)
        return;
    heddle_rows_conv_shape shape = group->shape;
    shape.function = (int)group->function;
    shape.window = group->window;
    shape.average = group->average;
    shape.next_gap = group->gap;
    shape.flat = group->flat && shape.pairs;
    const heddle_op *op;
    const heddle_rung *rung;
    if (heddle_op_find("rows_conv_pool", &op) != HEDDLE_OK || heddle_shape_validate(op, &shape) != HEDDLE_OK ||
        heddle_rung_choose(op, device, HEDDLE_FUSED, plan->options.arithmetic, &shape, &rung) != HEDDLE_OK)
        return;
    group->pools = device == HEDDLE_SIM || rung->tier == HEDDLE_FUSED;
    if (group->pools) {
        group->shape = shape;
        group->passes = false;
    }
}

// --- the plan --------------------------------------------------------------------------------------------------------

// The last product and the probabilities.
static heddle_status classify(heddle_rows_builder *builder, const heddle_rows_group *last)
{
    const heddle_rows_classify_shape shape = {.n = last->shape.n,
                                              .c = last->shape.c,
                                              .k = last->shape.k,
                                              .classes = last->product->features,
                                              .half = last->shape.half,
                                              .pairs = last->shape.pairs,
                                              .int8 = last->shape.int8};
    heddle_plan *plan = builder->plan;
    const heddle_placed places[] = {
        {"probabilities", plan->probabilities}, {"loss", plan->loss}, {"correct", plan->correct}};
    const int count = plan->options.predicts ? 1 : sizeof places / sizeof *places;
    const heddle_op *op;
    heddle_rows_bindings bound = {.count = count};
    heddle_value weight, bias, scale, arrived = HEDDLE_NO_VALUE;
    int node;
    HEDDLE_TRY(heddle_op_find("rows_classify", &op));
    HEDDLE_TRY(heddle_plan_place(plan, op, &shape, places, count, bound.bound));
    HEDDLE_TRY(heddle_rows_weight(builder, last, &weight));
    HEDDLE_TRY(heddle_rows_bias(builder, last, &bias));
    HEDDLE_TRY(heddle_rows_scale(builder, last, &scale));
    if (!plan->options.predicts)
        HEDDLE_TRY(heddle_rows_counters(builder, 1, &arrived));
    heddle_rows_bind(&bound, "input", last->input);
    heddle_rows_bind(&bound, "weight", weight);
    heddle_rows_bind(&bound, "bias", bias);
    heddle_rows_bind(&bound, "labels", builder->labels);
    heddle_rows_bind(&bound, "scale", scale);
    heddle_rows_bind(&bound, "arrived", arrived);
    return heddle_rows_apply(builder, "rows_classify", &shape, &bound, &node);
}

static bool is_wanted(const heddle_plan *plan)
{
    const heddle_plan_options *options = &plan->options;
    return !options->training && options->feed && !options->feed->moves && heddle_plan_ranks(plan) == 1 &&
           is_for_rows(heddle_device_get_kind(plan->device), options->kernels, options->arithmetic);
}

// What each group is computed by.
static void set_groups(const heddle_plan *plan, const heddle_model *model, heddle_rows *rows)
{
    for (int i = 0; i < rows->group_count; i++) {
        rows->groups[i].shape.half = rows->half;
        rows->groups[i].shape.pairs = rows->pairs;
        rows->groups[i].shape.int8 = rows->int8;
    }
    heddle_rows_find_trunk(plan, model, rows);
    for (int i = 0; i < rows->group_count; i++) {
        heddle_rows_group *group = &rows->groups[i];
        group->in_stem = is_stem(plan, model, group);
        if (rows->int8 && group->product && group->around < 0) // a byte has more to tell behind it
            group->shape.function = (int)group->function;
        set_pools(plan, group);
    }
}

heddle_status heddle_plan_infer_rows(heddle_plan *plan, heddle_state *state, heddle_stream *stream,
                                     const heddle_value *parameters, bool *made)
{
    *made = false;
    if (!is_wanted(plan))
        return HEDDLE_OK;
    heddle_rows *rows = plan->rows = calloc(1, sizeof *rows);
    if (!rows)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a plan");
    set_element(rows, plan->options.arithmetic, plan->options.ranges != NULL);
    if (!group_layers(state->model, plan->options.batch, rows))
        return HEDDLE_OK;
    set_groups(plan, state->model, rows);
    if (!heddle_rows_has_rungs(plan, rows))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_rows_place(plan, state, stream, rows));
    heddle_rows_builder builder = {.plan = plan, .state = state, .parameters = parameters, .rows = rows, .alone = stem};
    plan->by_rows = *made = true;
    HEDDLE_TRY(rows->int8 ? heddle_rows_quantise(plan, state, stream) : heddle_rows_copy_weights(&builder));
    plan->prepared = plan->trace.node_count;
    HEDDLE_TRY(heddle_rows_forward(&builder));
    return classify(&builder, &rows->groups[rows->group_count - 1]);
}
