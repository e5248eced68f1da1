// The loss of a training step over rows, and the operators that give the gradients of its groups, the last first.

#include "nn/rows_build.h"

// The function whose gradient a product's has to go through: the one that the product it reads has applied itself.
static heddle_rows_function function_before(const heddle_rows_builder *builder, const heddle_rows_group *group)
{
    const heddle_rows_group *from = heddle_rows_from(builder, group);
    return from->passes ? HEDDLE_ROWS_IDENTITY : from->function;
}

// A gradient of what a group leaves; two of them are added where its rows_norm goes back.
static void give_gradient(heddle_rows_group *to, heddle_value gradient)
{
    *(to->gradient == HEDDLE_NO_VALUE ? &to->gradient : &to->more) = gradient;
}

// Binds what both kinds of a loss have: where it begins, what it leaves, the labels, and the gradient of the logits.
static heddle_status bind_loss(heddle_rows_builder *builder, const char *name, const void *shape,
                               heddle_rows_bindings *bound, heddle_value *gradient)
{
    const heddle_rows_group *last = &builder->rows->groups[builder->rows->group_count - 1];
    heddle_plan *plan = builder->plan;
    const heddle_placed places[] = {{"grad_loss", plan->seed}, {"loss", plan->loss}, {"correct", plan->correct}};
    enum { PLACES = sizeof places / sizeof *places };
    const int dims[] = {last->shape.n, last->shape.k};
    const heddle_op *op;
    heddle_value arrived;
    HEDDLE_TRY(heddle_op_find(name, &op));
    HEDDLE_TRY(heddle_plan_place(plan, op, shape, places, PLACES, bound->bound));
    bound->count = PLACES;
    HEDDLE_TRY(heddle_rows_counters(builder, 1, &arrived));
    HEDDLE_TRY(
        heddle_trace_value_add(&plan->trace, "grad_logits", heddle_rows_dtype(builder->rows), 2, dims, gradient));
    heddle_rows_bind(bound, "labels", builder->labels);
    heddle_rows_bind(bound, "grad_logits", *gradient);
    heddle_rows_bind(bound, "arrived", arrived);
    return HEDDLE_OK;
}

// The loss of logits that are there, and their gradient.
static heddle_status loss(heddle_rows_builder *builder, heddle_rows_group *last)
{
    const heddle_rows_loss_shape shape = {.n = last->shape.n,
                                          .classes = last->product->features,
                                          .k = last->shape.k,
                                          .half = last->shape.half,
                                          .pairs = last->shape.pairs,
                                          .scale = builder->rows->update.scale};
    heddle_rows_bindings bound;
    int node;
    HEDDLE_TRY(bind_loss(builder, "rows_loss", &shape, &bound, &last->gradient));
    heddle_rows_bind(&bound, "logits", last->output);
    return heddle_rows_apply(builder, "rows_loss", &shape, &bound, &node);
}

// The gradient of the last bias, which the head adds up itself: an operator of the layer's own step reads it, or it is
// stored where the gradients are.
static heddle_status head_bias(heddle_rows_builder *builder, heddle_rows_group *last, heddle_value *gradient)
{
    if (!last->steps || last->bias < 0)
        return heddle_rows_parts(builder, last->bias, gradient);
    HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "grad_bias", HEDDLE_F32, 1, &last->shape.k, gradient));
    last->grad_bias = *gradient;
    return HEDDLE_OK;
}

// The last product, the loss, the gradient of the logits and that of the features.
static heddle_status head(heddle_rows_builder *builder, heddle_rows_group *last)
{
    const heddle_rows_head_shape shape = {.n = last->shape.n,
                                          .c = last->shape.c,
                                          .k = last->shape.k,
                                          .classes = last->product->features,
                                          .function = (int)function_before(builder, last),
                                          .half = last->shape.half,
                                          .pairs = last->shape.pairs,
                                          .scale = builder->rows->update.scale};
    heddle_rows_bindings bound;
    heddle_value weight, bias, grad_bias;
    int node;
    HEDDLE_TRY(bind_loss(builder, "rows_head", &shape, &bound, &last->gradient));
    HEDDLE_TRY(heddle_rows_weight(builder, last, &weight));
    HEDDLE_TRY(heddle_rows_vector(builder, last->bias, &bias));
    HEDDLE_TRY(head_bias(builder, last, &grad_bias));
    heddle_rows_bind(&bound, "input", last->input);
    heddle_rows_bind(&bound, "grad_bias", grad_bias);
    heddle_rows_bind(&bound, "weight", weight);
    heddle_rows_bind(&bound, "bias", bias);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_head", &shape, &bound, &node));
    give_gradient(heddle_rows_from(builder, last), heddle_rows_output(builder, node, "grad_input"));
    return HEDDLE_OK;
}

// `bias_is_known`: by the head.
static heddle_status weight_gradient(heddle_rows_builder *builder, const heddle_rows_group *group, bool bias_is_known)
{
    heddle_rows_bindings bound = {.count = 0};
    heddle_value weight, bias = HEDDLE_NO_VALUE;
    int node;
    HEDDLE_TRY(heddle_rows_parts(builder, group->weight, &weight));
    if (!bias_is_known)
        HEDDLE_TRY(heddle_rows_parts(builder, group->bias, &bias));
    heddle_rows_bind(&bound, "grad_output", group->gradient);
    heddle_rows_bind(&bound, "input", group->input);
    heddle_rows_bind(&bound, "grad_weight", weight);
    heddle_rows_bind(&bound, "grad_bias", bias);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_conv_backward_weight", &group->shape, &bound, &node));
    builder->plan->trace.nodes[node].aside = builder->is_small;
    return HEDDLE_OK;
}

// Where a parameter lies in a bank of the state; NULL without either.
static float *in_bank(const heddle_rows_builder *builder, const heddle_rows_segment *segment, heddle_bank bank)
{
    float *const floats = builder->state->bank[bank];
    return segment && floats ? floats + builder->state->offset[segment->parameter] : NULL;
}

// The gradients of a group's parameters, and their update. What reads the old copy of the weight is queued already; but
// for the first group, there is more to run beside it.
static heddle_status own_step(heddle_rows_builder *builder, const heddle_rows_group *group)
{
    const heddle_rows *rows = builder->rows;
    const heddle_rows_linear_step_shape shape = heddle_rows_step_of(builder->plan, rows, group);
    const heddle_rows_segment *weight = &rows->segments[group->weight];
    const heddle_rows_segment *bias = group->bias < 0 ? NULL : &rows->segments[group->bias];
    const heddle_placed places[] = {
        {"hyper", builder->state->hyper},
        {"weight", in_bank(builder, weight, HEDDLE_BANK_PARAMETERS)},
        {"copy", rows->copies + weight->copy},
        {"first_moment", in_bank(builder, weight, HEDDLE_BANK_MOMENT1)},
        {"second_moment", in_bank(builder, weight, HEDDLE_BANK_MOMENT2)},
        {"bias", in_bank(builder, bias, HEDDLE_BANK_PARAMETERS)},
        {"bias_copy", bias && bias->vector >= 0 ? rows->vectors + bias->vector : NULL},
        {"bias_first_moment", in_bank(builder, bias, HEDDLE_BANK_MOMENT1)},
        {"bias_second_moment", in_bank(builder, bias, HEDDLE_BANK_MOMENT2)},
    };
    heddle_rows_bindings bound = {.count = 0};
    int node;
    heddle_rows_bind(&bound, "grad_output", group->gradient);
    heddle_rows_bind(&bound, "input", group->input);
    heddle_rows_bind(&bound, "grad_bias", group->grad_bias);
    HEDDLE_TRY(heddle_rows_apply_placed(builder, "rows_linear_step", &shape, &bound, places,
                                        sizeof places / sizeof *places, &node));
    builder->plan->trace.nodes[node].aside = builder->is_small && group->from >= 0;
    return HEDDLE_OK;
}

// The gradient of what the group before left; where its product applied the function itself, that of the product's
// sums.
static heddle_status input_gradient(heddle_rows_builder *builder, heddle_rows_group *group)
{
    heddle_rows_group *from = heddle_rows_from(builder, group);
    heddle_rows_conv_shape shape = group->shape;
    heddle_rows_bindings bound = {.count = 0};
    heddle_value weight;
    int node;
    shape.function = (int)function_before(builder, group);
    shape.zero_gaps = !from->passes && group->source == HEDDLE_ROWS_SHIFTED;
    HEDDLE_TRY(heddle_rows_weight(builder, group, &weight));
    heddle_rows_bind(&bound, "grad_output", group->gradient);
    heddle_rows_bind(&bound, "weight", weight);
    if (shape.function != HEDDLE_ROWS_IDENTITY)
        heddle_rows_bind(&bound, "input", group->input);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_conv_backward_data", &shape, &bound, &node));
    heddle_value gradient = heddle_rows_output(builder, node, "grad_input");
    if (group->source == HEDDLE_ROWS_PATCHES) {
        const heddle_rows_patches_shape patches = heddle_rows_patches_of(group, from, builder->plan->options.batch);
        heddle_rows_bindings frame = {.count = 0};
        heddle_rows_bind(&frame, "grad_output", gradient);
        HEDDLE_TRY(heddle_rows_apply(builder, "rows_patches_backward", &patches, &frame, &node));
        gradient = heddle_rows_output(builder, node, "grad_input");
    }
    give_gradient(from, gradient);
    return HEDDLE_OK;
}

static heddle_status pass_gradient(heddle_rows_builder *builder, heddle_rows_group *group)
{
    const heddle_rows_norm_shape shape = heddle_rows_norm_of(builder, group);
    heddle_trace *trace = &builder->plan->trace;
    heddle_rows_bindings bound = {.count = 0};
    heddle_value gamma, beta, around = HEDDLE_NO_VALUE;
    int node;
    HEDDLE_TRY(heddle_rows_parts(builder, group->gamma, &gamma));
    HEDDLE_TRY(heddle_rows_parts(builder, group->beta, &beta));
    if (group->around >= 0) {
        const heddle_trace_value left = trace->values[group->left]; // a copy: the array may move
        HEDDLE_TRY(heddle_trace_value_add(trace, "around", left.dtype, left.rank, left.dims, &around));
    }
    heddle_rows_bind(&bound, "grad_output", group->gradient);
    heddle_rows_bind(&bound, "grad_more", group->more);
    heddle_rows_bind(&bound, "input", group->output);
    HEDDLE_TRY(heddle_rows_bind_norm(builder, group, &bound));
    heddle_rows_bind(&bound, "add", heddle_rows_added(builder, group));
    heddle_rows_bind(&bound, "grad_add", around);
    heddle_rows_bind(&bound, "grad_gamma", gamma);
    heddle_rows_bind(&bound, "grad_beta", beta);
    HEDDLE_TRY(heddle_rows_apply(builder, "rows_norm_backward", &shape, &bound, &node));
    group->gradient = heddle_rows_output(builder, node, "grad_input");
    if (group->around >= 0)
        give_gradient(&builder->rows->groups[group->around], around);
    if (!group->product)
        give_gradient(heddle_rows_from(builder, group), group->gradient);
    return HEDDLE_OK;
}

heddle_status heddle_rows_backward(heddle_rows_builder *builder)
{
    const heddle_rows *rows = builder->rows;
    heddle_rows_group *last = &builder->rows->groups[rows->group_count - 1];
    heddle_rows_for(builder, HEDDLE_PHASE_BACKWARD, last, NULL);
    builder->plan->trace.purpose.last = "loss";
    HEDDLE_TRY(heddle_rows_has_head(rows) ? head(builder, last) : loss(builder, last));
    for (int i = rows->group_count - 1; i >= heddle_rows_trunk_groups(rows); i--) {
        heddle_rows_group *group = &builder->rows->groups[i];
        const bool in_head = group == last && heddle_rows_has_head(rows);
        heddle_rows_for(builder, HEDDLE_PHASE_BACKWARD, group, NULL);
        heddle_status status = group->passes ? pass_gradient(builder, group) : HEDDLE_OK;
        if (status == HEDDLE_OK && group->product && !group->steps)
            status = weight_gradient(builder, group, in_head);
        if (status == HEDDLE_OK && group->product && group->from >= 0 && !in_head)
            status = input_gradient(builder, group);
        if (status == HEDDLE_OK && group->steps)
            status = own_step(builder, group);
        if (status != HEDDLE_OK)
            return heddle_fail_within(status, "gradient of layer %s",
                                      group->product ? group->product->name : "pooling");
    }
    return heddle_rows_trunk_groups(rows) > 0 ? heddle_rows_trunk_backward(builder) : HEDDLE_OK;
}
