// The forward operators of a training step over rows: each group's input, its product, and what follows that.

#include "nn/rows_build.h"
#include "ops/rows_conv/rows_conv.h"

static heddle_status gather(heddle_rows_builder *builder, heddle_rows_group *group)
{
    const heddle_feed *feed = builder->plan->options.feed;
    const heddle_input_shape *input = &builder->state->model->input;
    const heddle_layer *layer = group->product;
    const bool image = layer->in_rank == 3;
    const heddle_rows_gather_shape shape = {
        .n = builder->plan->options.batch,
        .count = feed->rows,
        .length = feed->length,
        .c = input->channels,
        .h = input->height,
        .w = input->width,
        .r = image ? layer->kernel : input->height,
        .s = image ? layer->kernel : input->width,
        .stride = image ? layer->stride : 1,
        .padding = image ? layer->padding : 0,
        .dilation = image ? layer->dilation : 1,
        .columns = group->shape.c,
        .half = builder->rows->half,
        .pairs = builder->rows->pairs,
        .int8 = builder->rows->int8,
    };
    const heddle_placed places[] = {
        {"dataset", feed->images},        {"dataset_labels", feed->labels},  {"order", feed->order},
        {"cursor", feed->report->cursor}, {"labels", builder->plan->labels},
    };
    enum { PLACES = sizeof places / sizeof *places };
    heddle_rows_bindings bound = {.count = PLACES};
    const heddle_op *op;
    int node;
    HEDDLE_TRY(heddle_op_find("rows_gather", &op));
    HEDDLE_TRY(heddle_plan_place(builder->plan, op, &shape, places, PLACES, bound.bound));
    heddle_purpose *purpose = &builder->plan->trace.purpose;
    purpose->phase = HEDDLE_PHASE_LOAD;
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_gather", &shape, &bound, &node));
    purpose->phase = HEDDLE_PHASE_FORWARD;
    group->input = heddle_rows_output(builder, node, "output");
    builder->labels = heddle_rows_output(builder, node, "labels");
    return HEDDLE_OK;
}

static heddle_status make_patches(heddle_rows_builder *builder, heddle_rows_group *group)
{
    const heddle_rows_patches_shape shape =
        heddle_rows_patches_of(group, heddle_rows_from(builder, group), builder->plan->options.batch);
    heddle_rows_bindings bound = {.count = 0};
    int node;
    heddle_rows_bind(&bound, "input", group->frame);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_patches_forward", &shape, &bound, &node));
    group->input = heddle_rows_output(builder, node, "output");
    return HEDDLE_OK;
}

static heddle_status find_input(heddle_rows_builder *builder, heddle_rows_group *group)
{
    group->gradient = group->more = group->grad_bias = group->sums = HEDDLE_NO_VALUE;
    if (group->from < 0)
        return gather(builder, group);
    group->frame = heddle_rows_from(builder, group)->left;
    if (group->source == HEDDLE_ROWS_PATCHES)
        return make_patches(builder, group);
    group->input = group->frame;
    if (group->source != HEDDLE_ROWS_FEATURES)
        return HEDDLE_OK;
    const int dims[] = {group->shape.n, group->shape.c};
    return heddle_trace_reshape(&builder->plan->trace, group->frame, 2, dims, &group->input);
}

static heddle_status multiply(heddle_rows_builder *builder, heddle_rows_group *group, bool last)
{
    heddle_rows_bindings bound = {.count = 0};
    heddle_value weight, bias, scale, arrived = HEDDLE_NO_VALUE;
    int node;
    HEDDLE_TRY(heddle_rows_weight(builder, group, &weight));
    HEDDLE_TRY(heddle_rows_bias(builder, group, &bias));
    HEDDLE_TRY(heddle_rows_scale(builder, group, &scale));
    heddle_rows_bind(&bound, "input", group->input);
    heddle_rows_bind(&bound, "weight", weight);
    heddle_rows_bind(&bound, "bias", bias);
    heddle_rows_bind(&bound, "scale", scale);
    group->sums = HEDDLE_NO_VALUE;
    if (group->norm) {
        const int dims[] = {2, group->shape.k};
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "sums", HEDDLE_F32, 2, dims, &group->sums));
        HEDDLE_TRY(
            heddle_rows_counters(builder, (group->shape.k + HEDDLE_ROWS_COUNTED - 1) / HEDDLE_ROWS_COUNTED, &arrived));
    }
    heddle_rows_bind(&bound, "sums", group->sums);
    heddle_rows_bind(&bound, "arrived", arrived);
    const char *op = last ? "rows_conv_logits" : group->pools ? "rows_conv_pool" : "rows_conv_forward";
    HEDDLE_TRY(heddle_rows_apply(builder, op, &group->shape, &bound, &node));
    group->output = group->left = heddle_rows_output(builder, node, "output");
    return HEDDLE_OK;
}

static heddle_value statistic(const heddle_rows_builder *builder, const heddle_rows_group *group, const char *name)
{
    const int index = group->norm ? heddle_model_parameter_index(builder->state->model, group->norm->name, name) : -1;
    return index < 0 ? HEDDLE_NO_VALUE : builder->parameters[index];
}

static heddle_status pass(heddle_rows_builder *builder, heddle_rows_group *group)
{
    const heddle_rows_norm_shape shape = heddle_rows_norm_of(builder, group);
    heddle_rows_bindings bound = {.count = 0};
    int node;
    heddle_rows_bind(&bound, "input", group->output);
    HEDDLE_TRY(heddle_rows_bind_norm(builder, group, &bound));
    heddle_rows_bind(&bound, "add", heddle_rows_added(builder, group));
    heddle_rows_bind(&bound, "running_mean", statistic(builder, group, "running_mean"));
    heddle_rows_bind(&bound, "running_var", statistic(builder, group, "running_var"));
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_norm_forward", &shape, &bound, &node));
    group->left = heddle_rows_output(builder, node, "output");
    return HEDDLE_OK;
}

static heddle_status forward_group(heddle_rows_builder *builder, heddle_rows_group *group, bool last)
{
    bool done = false;
    if (builder->alone)
        HEDDLE_TRY(builder->alone(builder, group, &done));
    if (done)
        return HEDDLE_OK;
    HEDDLE_TRY(find_input(builder, group));
    if (!group->product)
        group->output = group->frame;
    else if (!(last && heddle_rows_has_head(builder->rows)))
        HEDDLE_TRY(multiply(builder, group, last));
    return group->passes ? pass(builder, group) : HEDDLE_OK;
}

heddle_status heddle_rows_forward(heddle_rows_builder *builder)
{
    heddle_rows *rows = builder->rows;
    const int trunk = heddle_rows_trunk_groups(rows);
    if (trunk > 0)
        HEDDLE_TRY(heddle_rows_trunk_forward(builder));
    for (int i = trunk; i < rows->group_count; i++) {
        heddle_rows_group *group = &rows->groups[i];
        heddle_rows_for(builder, HEDDLE_PHASE_FORWARD, group, NULL);
        heddle_status status = forward_group(builder, group, i == rows->group_count - 1);
        if (status != HEDDLE_OK)
            return heddle_fail_within(status, "layer %s", group->product ? group->product->name : "pooling");
    }
    return HEDDLE_OK;
}
