// What the forward and the backward part of a step over rows build it from: bound operands, and values in the buffers
// of heddle_rows.

#include "nn/rows_build.h"

#include "ops/rows_head/rows_head.h"

enum { HEAD_WEIGHTS = 1 << 16 }; // that every sample's warps read once more than they have to

static const char *name_of(const heddle_rows_group *group)
{
    return !group ? NULL : group->product ? group->product->name : "pooling";
}

void heddle_rows_for(heddle_rows_builder *builder, heddle_phase phase, const heddle_rows_group *group,
                     const heddle_rows_group *last)
{
    builder->plan->trace.purpose = (heddle_purpose){.phase = phase, .layer = name_of(group), .last = name_of(last)};
}

void heddle_rows_bind(heddle_rows_bindings *to, const char *operand, heddle_value value)
{
    if (value != HEDDLE_NO_VALUE)
        to->bound[to->count++] = (heddle_binding){operand, value};
}

heddle_status heddle_rows_apply(heddle_rows_builder *builder, const char *name, const void *shape,
                                const heddle_rows_bindings *bound, int *node)
{
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find(name, &op));
    return heddle_trace_apply(&builder->plan->trace, op, shape, bound->bound, bound->count, node);
}

heddle_status heddle_rows_apply_placed(heddle_rows_builder *builder, const char *name, const void *shape,
                                       heddle_rows_bindings *bound, const heddle_placed *places, int count, int *node)
{
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find(name, &op));
    for (int i = 0; i < count; i++)
        if (places[i].memory)
            HEDDLE_TRY(heddle_plan_place(builder->plan, op, shape, &places[i], 1, &bound->bound[bound->count++]));
    return heddle_rows_apply(builder, name, shape, bound, node);
}

heddle_value heddle_rows_output(const heddle_rows_builder *builder, int node, const char *name)
{
    return heddle_trace_operand(&builder->plan->trace, node, name);
}

// A value of `elements` at `memory`.
static heddle_status placed(heddle_rows_builder *builder, const char *name, heddle_dtype dtype, int elements,
                            void *memory, heddle_value *value)
{
    return heddle_plan_value(builder->plan, name, dtype, 1, &elements, memory, value);
}

static const heddle_rows_segment *segment(const heddle_rows_builder *builder, int index)
{
    return index < 0 ? NULL : &builder->rows->segments[index];
}

heddle_rows_group *heddle_rows_from(const heddle_rows_builder *builder, const heddle_rows_group *group)
{
    return &builder->rows->groups[group->from];
}

heddle_status heddle_rows_weight(heddle_rows_builder *builder, const heddle_rows_group *group, heddle_value *value)
{
    const heddle_rows_segment *of = segment(builder, group->weight);
    const int elements = of->padded_k * of->taps * of->padded_c;
    const bool bytes = group->shape.int8 && !group->in_stem;
    return placed(builder, "weight", bytes ? HEDDLE_I8 : heddle_rows_dtype(builder->rows), elements,
                  builder->rows->copies + of->copy, value);
}

heddle_status heddle_rows_vector(heddle_rows_builder *builder, int index, heddle_value *value)
{
    const heddle_rows_segment *of = segment(builder, index);
    *value = HEDDLE_NO_VALUE;
    if (!of)
        return HEDDLE_OK;
    *value = builder->parameters[of->parameter];
    return of->vector < 0 ? HEDDLE_OK
                          : placed(builder, "vector", HEDDLE_F32, of->padded_k * of->taps * of->padded_c,
                                   builder->rows->vectors + of->vector, value);
}

// A vector of the group's own, one float per channel.
static heddle_status own_vector(heddle_rows_builder *builder, const heddle_rows_group *group, int at,
                                heddle_value *value)
{
    const int channels = group->in_trunk ? group->product->channels : group->shape.k;
    return placed(builder, "vector", HEDDLE_F32, channels, builder->rows->vectors + at, value);
}

heddle_status heddle_rows_bias(heddle_rows_builder *builder, const heddle_rows_group *group, heddle_value *value)
{
    return builder->rows->int8 ? own_vector(builder, group, group->shift, value)
                               : heddle_rows_vector(builder, group->bias, value);
}

heddle_status heddle_rows_scale(heddle_rows_builder *builder, const heddle_rows_group *group, heddle_value *value)
{
    *value = HEDDLE_NO_VALUE;
    return builder->rows->int8 ? own_vector(builder, group, group->scale, value) : HEDDLE_OK;
}

heddle_status heddle_rows_parts(heddle_rows_builder *builder, int index, heddle_value *value)
{
    const heddle_rows_segment *of = segment(builder, index);
    *value = HEDDLE_NO_VALUE;
    if (!of || of->parts == 0)
        return HEDDLE_OK;
    return placed(builder, "gradient", HEDDLE_F32, of->parts * of->padded_k * of->taps * of->padded_c,
                  builder->rows->parts + of->part, value);
}

heddle_status heddle_rows_counters(heddle_rows_builder *builder, int count, heddle_value *value)
{
    HEDDLE_TRY(placed(builder, "arrived", HEDDLE_I32, count, builder->rows->arrived + builder->rows->arrivals, value));
    builder->rows->arrivals += count;
    return HEDDLE_OK;
}

heddle_rows_patches_shape heddle_rows_patches_of(const heddle_rows_group *group, const heddle_rows_group *before,
                                                 int batch)
{
    const heddle_layer *layer = group->product;
    return (heddle_rows_patches_shape){
        .n = batch,
        .h = layer->in[1],
        .w = layer->in[2],
        .gap = before->gap,
        .c = before->shape.k,
        .r = layer->kernel,
        .s = layer->kernel,
        .stride = layer->stride,
        .padding = layer->padding,
        .dilation = layer->dilation,
        .half = group->shape.half,
        .pairs = group->shape.pairs,
        .int8 = group->shape.int8,
    };
}

heddle_rows_norm_shape heddle_rows_norm_of(const heddle_rows_builder *builder, const heddle_rows_group *group)
{
    const heddle_rows_conv_shape *shape = &group->shape;
    const bool alone = !group->product; // pooling: of the frame as it was left
    const int gap = alone ? heddle_rows_from(builder, group)->gap : shape->gap;
    const int pitch = (alone ? group->out_w : shape->w) + gap;
    return (heddle_rows_norm_shape){
        .n = shape->n,
        .h = group->out_h,
        .w = group->out_w,
        .pitch = pitch,
        .image_rows = ((alone ? group->out_h : shape->h) + gap) * pitch,
        .c = shape->k,
        .normalise = group->norm != NULL,
        // Of bytes, a product applies it, unless something is added first.
        .function = shape->int8 && group->around < 0 ? HEDDLE_ROWS_IDENTITY : (int)group->function,
        .window = group->window,
        .average = group->average,
        .gap = group->gap,
        .epsilon = group->norm ? group->norm->epsilon : 1,
        .momentum = group->norm ? group->norm->momentum : 0,
        .flat = group->flat && shape->pairs,
        .half = shape->half,
        .pairs = shape->pairs,
        .int8 = shape->int8,
        .scale = group->norm_scale,
        .add_scale = group->add_scale,
    };
}

heddle_rows_linear_step_shape heddle_rows_step_of(const heddle_plan *plan, const heddle_rows *rows,
                                                  const heddle_rows_group *group)
{
    return (heddle_rows_linear_step_shape){
        .n = group->shape.n,
        .c = group->shape.c,
        .k = group->shape.k,
        .inputs = group->product->in[0],
        .outputs = group->product->features,
        .optimizer = (int)plan->options.optimizer,
        .half = rows->half,
        .pairs = rows->pairs,
        .scale = rows->update.scale,
    };
}

heddle_status heddle_rows_bind_norm(heddle_rows_builder *builder, heddle_rows_group *group, heddle_rows_bindings *bound)
{
    heddle_value sums = group->sums, gamma, beta;
    const int dims[] = {2, group->shape.k};
    HEDDLE_TRY(heddle_rows_vector(builder, group->gamma, &gamma));
    HEDDLE_TRY(heddle_rows_vector(builder, group->beta, &beta));
    if (sums == HEDDLE_NO_VALUE)
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "unused", HEDDLE_F32, 2, dims, &sums));
    if (gamma == HEDDLE_NO_VALUE)
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "unused", HEDDLE_F32, 1, dims + 1, &gamma));
    if (beta == HEDDLE_NO_VALUE)
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "unused", HEDDLE_F32, 1, dims + 1, &beta));
    heddle_rows_bind(bound, "sums", sums);
    heddle_rows_bind(bound, "gamma", gamma);
    heddle_rows_bind(bound, "beta", beta);
    return HEDDLE_OK;
}

heddle_value heddle_rows_added(const heddle_rows_builder *builder, const heddle_rows_group *group)
{
    return group->around < 0 ? HEDDLE_NO_VALUE : builder->rows->groups[group->around].left;
}

bool heddle_rows_has_head(const heddle_rows *rows)
{
    const heddle_rows_conv_shape *last = &rows->groups[rows->group_count - 1].shape;
    return rows->group_count > 1 && last->k <= HEDDLE_ROWS_HEAD_CLASSES && last->c * last->k <= HEAD_WEIGHTS;
}
