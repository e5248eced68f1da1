// The trunk of a network over rows: the small convolutions that it begins with, as one operator forward and one
// backward. Which groups belong to it, and the operators.

#include <string.h>

#include "nn/rows_build.h"
#include "ops/rows_trunk/rows_trunk.h"

enum {
    MOST_CHANNELS = 32,
    // Multiply-adds of an image up to which float32 in shared memory is worth more than tensor cores and the memory
    // that their padded rows take.
    MOST_PRODUCTS = 600 * 1000,
    MOST_PARTS = 64, // of a gradient: few enough for rows_update, so many that few blocks have to wait for others
};

// --- which groups are a trunk ---------------------------------------------------------------------------------------

// A convolution that a stage can be, of what the group before left, or of the dataset.
static bool is_stage(const heddle_rows *rows, int index)
{
    const heddle_rows_group *group = &rows->groups[index];
    const heddle_layer *layer = group->product;
    return layer && strcmp(layer->type->name, "conv2d") == 0 && !group->norm && group->around < 0 &&
           group->from == index - 1 && layer->stride == 1 && layer->dilation == 1 && layer->padding < layer->kernel &&
           layer->kernel <= HEDDLE_ROWS_TRUNK_FILTER && layer->channels <= MOST_CHANNELS;
}

// How many leading groups are stages, with a linear layer behind them and no other reader; 0: none.
static int count_stages(const heddle_rows *rows)
{
    int count = 0;
    while (count < rows->group_count && is_stage(rows, count))
        count++;
    if (count == 0 || count > HEDDLE_ROWS_TRUNK_STAGES || count == rows->group_count ||
        rows->groups[count].source != HEDDLE_ROWS_FEATURES)
        return 0;
    for (int i = count; i < rows->group_count; i++) {
        const heddle_rows_group *group = &rows->groups[i];
        if ((i == count) != (group->from < count) || (group->around >= 0 && group->around < count))
            return 0;
    }
    return rows->groups[count].from == count - 1 ? count : 0;
}

static heddle_rows_trunk_stage stage_of(const heddle_rows_group *group)
{
    return (heddle_rows_trunk_stage){
        .k = group->product->channels,
        .r = group->product->kernel,
        .padding = group->product->padding,
        .function = (int)group->function,
        .window = group->window,
        .average = group->average,
    };
}

static heddle_rows_trunk_shape shape_of(const heddle_plan *plan, const heddle_model *model, const heddle_rows *rows,
                                        int stages)
{
    heddle_rows_trunk_shape shape = {
        .n = plan->options.batch,
        .count = plan->options.feed->rows,
        .length = plan->options.feed->length,
        .c = model->input.channels,
        .h = model->input.height,
        .w = model->input.width,
        .parts = plan->options.batch < MOST_PARTS ? plan->options.batch : MOST_PARTS,
        .half = rows->half,
        .pairs = rows->pairs,
        .int8 = rows->int8,
    };
    for (int i = 0; i < stages; i++)
        shape.stage[i] = stage_of(&rows->groups[i]);
    return shape;
}

static bool is_worth(const heddle_rows_trunk_shape *shape)
{
    double products = 0;
    for (int i = 0; i < heddle_trunk_stages(shape); i++) {
        const heddle_trunk_size size = heddle_trunk_size_of(shape, i);
        products += (double)heddle_trunk_weights(shape, i) * size.out_h * size.out_w;
    }
    return products <= MOST_PRODUCTS;
}

static bool has_rung(const heddle_plan *plan, const char *name, const heddle_rows_trunk_shape *shape)
{
    const heddle_op *op;
    const heddle_rung *rung;
    return heddle_op_find(name, &op) == HEDDLE_OK && heddle_shape_validate(op, shape) == HEDDLE_OK &&
           heddle_rung_choose(op, heddle_device_get_kind(plan->device), HEDDLE_FUSED, plan->options.arithmetic, shape,
                              &rung) == HEDDLE_OK;
}

void heddle_rows_find_trunk(const heddle_plan *plan, const heddle_model *model, heddle_rows *rows)
{
    const int stages = count_stages(rows);
    if (stages == 0)
        return;
    const heddle_rows_trunk_shape shape = shape_of(plan, model, rows, stages);
    if (!is_worth(&shape) || rows->groups[stages - 1].shape.k != heddle_trunk_channels(&shape) ||
        !has_rung(plan, "rows_trunk_forward", &shape) ||
        (plan->options.training && !has_rung(plan, "rows_trunk_backward", &shape)))
        return;
    rows->trunk = shape;
    for (int i = 0; i < stages; i++) {
        rows->groups[i].in_trunk = true;
        rows->groups[i].shape.parts = shape.parts;
    }
}

// --- its operators --------------------------------------------------------------------------------------------------

static const struct {
    const char *weight, *bias, *grad_weight, *grad_bias;
} names[HEDDLE_ROWS_TRUNK_STAGES] = {
    {"weight1", "bias1", "grad_weight1", "grad_bias1"},
    {"weight2", "bias2", "grad_weight2", "grad_bias2"},
    {"weight3", "bias3", "grad_weight3", "grad_bias3"},
};

int heddle_rows_trunk_groups(const heddle_rows *rows)
{
    return rows->groups[0].in_trunk ? heddle_trunk_stages(&rows->trunk) : 0;
}

// The weight of stage `index`; without such a stage, no elements.
static heddle_status bind_weight(heddle_rows_builder *builder, int index, heddle_rows_bindings *bound)
{
    const int none = 0;
    heddle_value weight;
    if (index < heddle_rows_trunk_groups(builder->rows))
        HEDDLE_TRY(heddle_rows_vector(builder, builder->rows->groups[index].weight, &weight));
    else
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "none", HEDDLE_F32, 1, &none, &weight));
    heddle_rows_bind(bound, names[index].weight, weight);
    return HEDDLE_OK;
}

heddle_status heddle_rows_trunk_forward(heddle_rows_builder *builder)
{
    heddle_rows *rows = builder->rows;
    const heddle_feed *feed = builder->plan->options.feed;
    const heddle_placed places[] = {
        {"dataset", feed->images},        {"dataset_labels", feed->labels},  {"order", feed->order},
        {"cursor", feed->report->cursor}, {"labels", builder->plan->labels},
    };
    enum { PLACES = sizeof places / sizeof *places };
    heddle_rows_bindings bound = {.count = PLACES};
    const heddle_op *op;
    int node;
    HEDDLE_TRY(heddle_op_find("rows_trunk_forward", &op));
    HEDDLE_TRY(heddle_plan_place(builder->plan, op, &rows->trunk, places, PLACES, bound.bound));
    for (int i = 0; i < HEDDLE_ROWS_TRUNK_STAGES; i++)
        HEDDLE_TRY(bind_weight(builder, i, &bound));
    for (int i = 0; i < heddle_rows_trunk_groups(rows); i++) {
        heddle_value bias;
        HEDDLE_TRY(heddle_rows_bias(builder, &rows->groups[i], &bias));
        heddle_rows_bind(&bound, names[i].bias, bias);
    }
    heddle_rows_group *last = &rows->groups[heddle_rows_trunk_groups(rows) - 1];
    heddle_rows_for(builder, HEDDLE_PHASE_FORWARD, &rows->groups[0], last);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_trunk_forward", &rows->trunk, &bound, &node));
    last->left = heddle_rows_output(builder, node, "output");
    last->output = heddle_rows_output(builder, node, "activations");
    last->gradient = last->more = HEDDLE_NO_VALUE;
    builder->labels = heddle_rows_output(builder, node, "labels");
    return HEDDLE_OK;
}

heddle_status heddle_rows_trunk_backward(heddle_rows_builder *builder)
{
    heddle_rows *rows = builder->rows;
    const heddle_rows_group *last = &rows->groups[heddle_rows_trunk_groups(rows) - 1];
    const heddle_feed *feed = builder->plan->options.feed;
    const heddle_placed places[] = {
        {"dataset", feed->images}, {"order", feed->order}, {"cursor", feed->report->cursor}};
    enum { PLACES = sizeof places / sizeof *places };
    heddle_rows_bindings bound = {.count = PLACES};
    const heddle_op *op;
    heddle_value arrived;
    int node;
    HEDDLE_TRY(heddle_op_find("rows_trunk_backward", &op));
    HEDDLE_TRY(heddle_plan_place(builder->plan, op, &rows->trunk, places, PLACES, bound.bound));
    HEDDLE_TRY(heddle_rows_counters(builder, rows->trunk.parts, &arrived));
    heddle_rows_bind(&bound, "grad_output", last->gradient);
    heddle_rows_bind(&bound, "activations", last->output);
    heddle_rows_bind(&bound, "arrived", arrived);
    for (int i = 1; i < HEDDLE_ROWS_TRUNK_STAGES; i++)
        HEDDLE_TRY(bind_weight(builder, i, &bound));
    for (int i = 0; i < heddle_rows_trunk_groups(rows); i++) {
        heddle_value weight, bias;
        HEDDLE_TRY(heddle_rows_parts(builder, rows->groups[i].weight, &weight));
        HEDDLE_TRY(heddle_rows_parts(builder, rows->groups[i].bias, &bias));
        heddle_rows_bind(&bound, names[i].grad_weight, weight);
        heddle_rows_bind(&bound, names[i].grad_bias, bias);
    }
    heddle_rows_for(builder, HEDDLE_PHASE_BACKWARD, &rows->groups[0],
                    &rows->groups[heddle_rows_trunk_groups(rows) - 1]);
    return heddle_rows_apply(builder, "rows_trunk_backward", &rows->trunk, &bound, &node);
}
