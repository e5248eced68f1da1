// The operators of a training step over rows: forward, loss, gradients, update.

#include "nn/rows.h"

#include <stdlib.h>

#include "ops/rows_conv/rows_conv.h"
#include "ops/rows_head/rows_head.h"

enum {
    MOST_BOUND = 16,
    // Activations of a step whose kernels leave multiprocessors idle: gradients of weights run beside the way back.
    SMALL_BYTES = 64 << 20,
    HEAD_WEIGHTS = 1 << 16, // that every sample's warps read once more than they have to
    // By how much more than its batch a gradient in fp16 is scaled up: its logits' are below 128, so that sums have
    // room for 512 times as much, and the gradients of early layers are far above the smallest number.
    HALF_SCALE = 7,
};

// Builds one plan's trace.
typedef struct rows_builder {
    heddle_plan *plan;
    heddle_state *state;
    const heddle_value *parameters;
    heddle_rows *rows;
    heddle_value labels;
    bool is_small;
} rows_builder;

// Operands that are bound so far; values that do not exist are left out.
typedef struct bindings {
    heddle_binding bound[MOST_BOUND];
    int count;
} bindings;

static void bind(bindings *to, const char *operand, heddle_value value)
{
    if (value != HEDDLE_NO_VALUE)
        to->bound[to->count++] = (heddle_binding){operand, value};
}

static heddle_status apply(rows_builder *builder, const char *name, const void *shape, const bindings *bound, int *node)
{
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find(name, &op));
    return heddle_trace_apply(&builder->plan->trace, op, shape, bound->bound, bound->count, node);
}

static heddle_value output_of(const rows_builder *builder, int node, const char *name)
{
    return heddle_trace_operand(&builder->plan->trace, node, name);
}

// A value of `elements` at `memory`.
static heddle_status placed(rows_builder *builder, const char *name, heddle_dtype dtype, int elements, void *memory,
                            heddle_value *value)
{
    HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, name, dtype, 1, &elements, value));
    builder->plan->trace.values[*value].memory = memory;
    return HEDDLE_OK;
}

static const heddle_rows_segment *segment(const rows_builder *builder, int index)
{
    return index < 0 ? NULL : &builder->rows->segments[index];
}

static heddle_rows_group *from_of(const rows_builder *builder, const heddle_rows_group *group)
{
    return &builder->rows->groups[group->from];
}

// The copy of a group's weight.
static heddle_status weight_copy(rows_builder *builder, const heddle_rows_group *group, heddle_value *value)
{
    const heddle_rows_segment *of = segment(builder, group->weight);
    const int elements = of->padded_k * of->taps * of->padded_c;
    return placed(builder, "weight", builder->rows->half ? HEDDLE_F16 : HEDDLE_BF16, elements,
                  builder->rows->copies + of->copy, value);
}

// A vector as operators take it: the parameter itself, or its padded copy.
static heddle_status vector(rows_builder *builder, int index, heddle_value *value)
{
    const heddle_rows_segment *of = segment(builder, index);
    *value = HEDDLE_NO_VALUE;
    if (!of)
        return HEDDLE_OK;
    *value = builder->parameters[of->parameter];
    return of->vector < 0
               ? HEDDLE_OK
               : placed(builder, "vector", HEDDLE_F32, of->padded_k, builder->rows->vectors + of->vector, value);
}

// Where a gradient's parts go.
static heddle_status parts_of(rows_builder *builder, int index, heddle_value *value)
{
    const heddle_rows_segment *of = segment(builder, index);
    *value = HEDDLE_NO_VALUE;
    if (!of || of->parts == 0)
        return HEDDLE_OK;
    return placed(builder, "gradient", HEDDLE_F32, of->parts * of->padded_k * of->taps * of->padded_c,
                  builder->rows->parts + of->part, value);
}

// Counters for the blocks of one call, zero between calls.
static heddle_status counters(rows_builder *builder, int count, heddle_value *value)
{
    HEDDLE_TRY(placed(builder, "arrived", HEDDLE_I32, count, builder->rows->arrived + builder->rows->arrivals, value));
    builder->rows->arrivals += count;
    return HEDDLE_OK;
}

// --- forward ---------------------------------------------------------------------------------------------------------

static heddle_status gather(rows_builder *builder, heddle_rows_group *group)
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
    };
    const heddle_placed places[] = {
        {"dataset", feed->images},        {"dataset_labels", feed->labels},  {"order", feed->order},
        {"cursor", feed->report->cursor}, {"labels", builder->plan->labels},
    };
    enum { PLACES = sizeof places / sizeof *places };
    bindings bound = {.count = PLACES};
    const heddle_op *op;
    int node;
    HEDDLE_TRY(heddle_op_find("rows_gather", &op));
    HEDDLE_TRY(heddle_plan_place(builder->plan, op, &shape, places, PLACES, bound.bound));
    HEDDLE_TRY(apply(builder, "rows_gather", &shape, &bound, &node));
    group->input = output_of(builder, node, "output");
    builder->labels = output_of(builder, node, "labels");
    return HEDDLE_OK;
}

static heddle_rows_patches_shape patches_shape(const heddle_rows_group *group, const heddle_rows_group *before,
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
    };
}

static heddle_status make_patches(rows_builder *builder, heddle_rows_group *group)
{
    const heddle_rows_patches_shape shape = patches_shape(group, from_of(builder, group), builder->plan->options.batch);
    bindings bound = {.count = 0};
    int node;
    bind(&bound, "input", group->frame);
    HEDDLE_TRY(apply(builder, "rows_patches_forward", &shape, &bound, &node));
    group->input = output_of(builder, node, "output");
    return HEDDLE_OK;
}

static heddle_status find_input(rows_builder *builder, heddle_rows_group *group)
{
    group->gradient = group->more = group->sums = HEDDLE_NO_VALUE;
    if (group->from < 0)
        return gather(builder, group);
    group->frame = from_of(builder, group)->left;
    if (group->source == HEDDLE_ROWS_PATCHES)
        return make_patches(builder, group);
    group->input = group->frame;
    if (group->source != HEDDLE_ROWS_FEATURES)
        return HEDDLE_OK;
    const int dims[] = {group->shape.n, group->shape.c};
    return heddle_trace_reshape(&builder->plan->trace, group->frame, 2, dims, &group->input);
}

static heddle_status multiply(rows_builder *builder, heddle_rows_group *group, bool last)
{
    bindings bound = {.count = 0};
    heddle_value weight, bias, arrived = HEDDLE_NO_VALUE;
    int node;
    HEDDLE_TRY(weight_copy(builder, group, &weight));
    HEDDLE_TRY(vector(builder, group->bias, &bias));
    bind(&bound, "input", group->input);
    bind(&bound, "weight", weight);
    bind(&bound, "bias", bias);
    group->sums = HEDDLE_NO_VALUE;
    if (group->norm) {
        const int dims[] = {2, group->shape.k};
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "sums", HEDDLE_F32, 2, dims, &group->sums));
        HEDDLE_TRY(counters(builder, (group->shape.k + HEDDLE_ROWS_COUNTED - 1) / HEDDLE_ROWS_COUNTED, &arrived));
    }
    bind(&bound, "sums", group->sums);
    bind(&bound, "arrived", arrived);
    HEDDLE_TRY(apply(builder, last ? "rows_conv_logits" : "rows_conv_forward", &group->shape, &bound, &node));
    group->output = group->left = output_of(builder, node, "output");
    return HEDDLE_OK;
}

static heddle_rows_norm_shape norm_shape(const rows_builder *builder, const heddle_rows_group *group)
{
    const heddle_rows_conv_shape *shape = &group->shape;
    const bool alone = !group->product; // pooling: of the frame as it was left
    const int gap = alone ? from_of(builder, group)->gap : shape->gap;
    const int pitch = (alone ? group->out_w : shape->w) + gap;
    return (heddle_rows_norm_shape){
        .n = shape->n,
        .h = group->out_h,
        .w = group->out_w,
        .pitch = pitch,
        .image_rows = ((alone ? group->out_h : shape->h) + gap) * pitch,
        .c = shape->k,
        .normalise = group->norm != NULL,
        .function = (int)group->function,
        .window = group->window,
        .average = group->average,
        .gap = group->gap,
        .epsilon = group->norm ? group->norm->epsilon : 1,
        .momentum = group->norm ? group->norm->momentum : 0,
        .half = shape->half,
    };
}

// Sums, gamma and beta of a group's batchnorm; without one, values that are never looked at.
static heddle_status bind_norm(rows_builder *builder, heddle_rows_group *group, bindings *bound)
{
    heddle_value sums = group->sums, gamma, beta;
    const int dims[] = {2, group->shape.k};
    HEDDLE_TRY(vector(builder, group->gamma, &gamma));
    HEDDLE_TRY(vector(builder, group->beta, &beta));
    if (sums == HEDDLE_NO_VALUE)
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "unused", HEDDLE_F32, 2, dims, &sums));
    if (gamma == HEDDLE_NO_VALUE)
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "unused", HEDDLE_F32, 1, dims + 1, &gamma));
    if (beta == HEDDLE_NO_VALUE)
        HEDDLE_TRY(heddle_trace_value_add(&builder->plan->trace, "unused", HEDDLE_F32, 1, dims + 1, &beta));
    bind(bound, "sums", sums);
    bind(bound, "gamma", gamma);
    bind(bound, "beta", beta);
    return HEDDLE_OK;
}

static heddle_value statistic(const rows_builder *builder, const heddle_rows_group *group, const char *name)
{
    const int index = group->norm ? heddle_model_parameter_index(builder->state->model, group->norm->name, name) : -1;
    return index < 0 ? HEDDLE_NO_VALUE : builder->parameters[index];
}

// The way around a residual.
static heddle_value added_by(const rows_builder *builder, const heddle_rows_group *group)
{
    return group->around < 0 ? HEDDLE_NO_VALUE : builder->rows->groups[group->around].left;
}

static heddle_status pass(rows_builder *builder, heddle_rows_group *group)
{
    const heddle_rows_norm_shape shape = norm_shape(builder, group);
    bindings bound = {.count = 0};
    int node;
    bind(&bound, "input", group->output);
    HEDDLE_TRY(bind_norm(builder, group, &bound));
    bind(&bound, "add", added_by(builder, group));
    bind(&bound, "running_mean", statistic(builder, group, "running_mean"));
    bind(&bound, "running_var", statistic(builder, group, "running_var"));
    HEDDLE_TRY(apply(builder, "rows_norm_forward", &shape, &bound, &node));
    group->left = output_of(builder, node, "output");
    return HEDDLE_OK;
}

// Whether the last group is one operator from features to their gradient, rows_head.
static bool has_head(const heddle_rows *rows)
{
    const heddle_rows_conv_shape *last = &rows->groups[rows->group_count - 1].shape;
    return rows->group_count > 1 && last->k <= HEDDLE_ROWS_HEAD_CLASSES && last->c * last->k <= HEAD_WEIGHTS;
}

static heddle_status forward(rows_builder *builder)
{
    heddle_rows *rows = builder->rows;
    for (int i = 0; i < rows->group_count; i++) {
        heddle_rows_group *group = &rows->groups[i];
        const bool last = i == rows->group_count - 1;
        heddle_status status = find_input(builder, group);
        if (!group->product)
            group->output = group->frame;
        else if (status == HEDDLE_OK && !(last && has_head(rows)))
            status = multiply(builder, group, last);
        if (status == HEDDLE_OK && group->passes)
            status = pass(builder, group);
        if (status != HEDDLE_OK)
            return heddle_fail_within(status, "layer %s", group->product ? group->product->name : "pooling");
    }
    return HEDDLE_OK;
}

// --- loss and gradients ----------------------------------------------------------------------------------------------

// The function whose gradient a product's has to go through: the one that the product it reads has applied itself.
static heddle_rows_function function_before(const rows_builder *builder, const heddle_rows_group *group)
{
    const heddle_rows_group *from = from_of(builder, group);
    return from->passes ? HEDDLE_ROWS_IDENTITY : from->function;
}

// A gradient of what a group leaves; two of them are added where its rows_norm goes back.
static void give_gradient(heddle_rows_group *to, heddle_value gradient)
{
    *(to->gradient == HEDDLE_NO_VALUE ? &to->gradient : &to->more) = gradient;
}

// Binds what both kinds of a loss have: where it begins, what it leaves, the labels, and the gradient of the logits.
static heddle_status bind_loss(rows_builder *builder, const char *name, const void *shape, bindings *bound,
                               heddle_value *gradient)
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
    HEDDLE_TRY(counters(builder, 1, &arrived));
    HEDDLE_TRY(heddle_trace_value_add(&plan->trace, "grad_logits", last->shape.half ? HEDDLE_F16 : HEDDLE_BF16, 2, dims,
                                      gradient));
    bind(bound, "labels", builder->labels);
    bind(bound, "grad_logits", *gradient);
    bind(bound, "arrived", arrived);
    return HEDDLE_OK;
}

// The loss of logits that are there, and their gradient.
static heddle_status loss(rows_builder *builder, heddle_rows_group *last)
{
    const heddle_rows_loss_shape shape = {.n = last->shape.n,
                                          .classes = last->product->features,
                                          .k = last->shape.k,
                                          .half = last->shape.half,
                                          .scale = builder->rows->update.scale};
    bindings bound;
    int node;
    HEDDLE_TRY(bind_loss(builder, "rows_loss", &shape, &bound, &last->gradient));
    bind(&bound, "logits", last->output);
    return apply(builder, "rows_loss", &shape, &bound, &node);
}

// The last product, the loss, the gradient of the logits and that of the features.
static heddle_status head(rows_builder *builder, heddle_rows_group *last)
{
    const heddle_rows_head_shape shape = {.n = last->shape.n,
                                          .c = last->shape.c,
                                          .k = last->shape.k,
                                          .classes = last->product->features,
                                          .function = (int)function_before(builder, last),
                                          .half = last->shape.half,
                                          .scale = builder->rows->update.scale};
    bindings bound;
    heddle_value weight, bias;
    int node;
    HEDDLE_TRY(bind_loss(builder, "rows_head", &shape, &bound, &last->gradient));
    HEDDLE_TRY(weight_copy(builder, last, &weight));
    HEDDLE_TRY(vector(builder, last->bias, &bias));
    bind(&bound, "input", last->input);
    bind(&bound, "weight", weight);
    bind(&bound, "bias", bias);
    HEDDLE_TRY(apply(builder, "rows_head", &shape, &bound, &node));
    give_gradient(from_of(builder, last), output_of(builder, node, "grad_input"));
    return HEDDLE_OK;
}

static heddle_status weight_gradient(rows_builder *builder, const heddle_rows_group *group)
{
    bindings bound = {.count = 0};
    heddle_value weight, bias;
    int node;
    HEDDLE_TRY(parts_of(builder, group->weight, &weight));
    HEDDLE_TRY(parts_of(builder, group->bias, &bias));
    bind(&bound, "grad_output", group->gradient);
    bind(&bound, "input", group->input);
    bind(&bound, "grad_weight", weight);
    bind(&bound, "grad_bias", bias);
    HEDDLE_TRY(apply(builder, "rows_conv_backward_weight", &group->shape, &bound, &node));
    builder->plan->trace.nodes[node].aside = builder->is_small;
    return HEDDLE_OK;
}

// The gradient of what the group before left; where its product applied the function itself, that of the product's
// sums.
static heddle_status input_gradient(rows_builder *builder, heddle_rows_group *group)
{
    heddle_rows_group *from = from_of(builder, group);
    heddle_rows_conv_shape shape = group->shape;
    bindings bound = {.count = 0};
    heddle_value weight;
    int node;
    shape.function = (int)function_before(builder, group);
    shape.zero_gaps = !from->passes && group->source == HEDDLE_ROWS_SHIFTED;
    HEDDLE_TRY(weight_copy(builder, group, &weight));
    bind(&bound, "grad_output", group->gradient);
    bind(&bound, "weight", weight);
    if (shape.function != HEDDLE_ROWS_IDENTITY)
        bind(&bound, "input", group->input);
    HEDDLE_TRY(apply(builder, "rows_conv_backward_data", &shape, &bound, &node));
    heddle_value gradient = output_of(builder, node, "grad_input");
    if (group->source == HEDDLE_ROWS_PATCHES) {
        const heddle_rows_patches_shape patches = patches_shape(group, from, builder->plan->options.batch);
        bindings frame = {.count = 0};
        bind(&frame, "grad_output", gradient);
        HEDDLE_TRY(apply(builder, "rows_patches_backward", &patches, &frame, &node));
        gradient = output_of(builder, node, "grad_input");
    }
    give_gradient(from, gradient);
    return HEDDLE_OK;
}

static heddle_status pass_gradient(rows_builder *builder, heddle_rows_group *group)
{
    const heddle_rows_norm_shape shape = norm_shape(builder, group);
    heddle_trace *trace = &builder->plan->trace;
    bindings bound = {.count = 0};
    heddle_value gamma, beta, arrived, around = HEDDLE_NO_VALUE;
    int node;
    HEDDLE_TRY(parts_of(builder, group->gamma, &gamma));
    HEDDLE_TRY(parts_of(builder, group->beta, &beta));
    HEDDLE_TRY(counters(builder, 1, &arrived));
    if (group->around >= 0) {
        const heddle_trace_value left = trace->values[group->left]; // a copy: the array may move
        HEDDLE_TRY(heddle_trace_value_add(trace, "around", left.dtype, left.rank, left.dims, &around));
    }
    bind(&bound, "grad_output", group->gradient);
    bind(&bound, "grad_more", group->more);
    bind(&bound, "input", group->output);
    HEDDLE_TRY(bind_norm(builder, group, &bound));
    bind(&bound, "add", added_by(builder, group));
    bind(&bound, "grad_add", around);
    bind(&bound, "grad_gamma", gamma);
    bind(&bound, "grad_beta", beta);
    bind(&bound, "arrived", arrived);
    HEDDLE_TRY(apply(builder, "rows_norm_backward", &shape, &bound, &node));
    group->gradient = output_of(builder, node, "grad_input");
    if (group->around >= 0)
        give_gradient(&builder->rows->groups[group->around], around);
    if (!group->product)
        give_gradient(from_of(builder, group), group->gradient);
    return HEDDLE_OK;
}

static heddle_status backward(rows_builder *builder)
{
    const heddle_rows *rows = builder->rows;
    heddle_rows_group *last = &builder->rows->groups[rows->group_count - 1];
    HEDDLE_TRY(has_head(rows) ? head(builder, last) : loss(builder, last));
    for (int i = rows->group_count - 1; i >= 0; i--) {
        heddle_rows_group *group = &builder->rows->groups[i];
        heddle_status status = group->passes ? pass_gradient(builder, group) : HEDDLE_OK;
        if (status == HEDDLE_OK && group->product)
            status = weight_gradient(builder, group);
        if (status == HEDDLE_OK && group->product && group->from >= 0 && !(group == last && has_head(rows)))
            status = input_gradient(builder, group);
        if (status != HEDDLE_OK)
            return heddle_fail_within(status, "gradient of layer %s",
                                      group->product ? group->product->name : "pooling");
    }
    return HEDDLE_OK;
}

// --- parameters ------------------------------------------------------------------------------------------------------

// An operator over all parameters: rows_weights, rows_collect or rows_update.
static heddle_status over_parameters(rows_builder *builder, const char *name, const heddle_placed *places, int count)
{
    const heddle_op *op;
    bindings bound = {.count = 0};
    int node;
    HEDDLE_TRY(heddle_op_find(name, &op));
    for (int i = 0; i < count; i++) {
        if (!places[i].memory)
            continue;
        HEDDLE_TRY(
            heddle_plan_place(builder->plan, op, &builder->rows->update, &places[i], 1, &bound.bound[bound.count]));
        bound.count++;
    }
    return apply(builder, name, &builder->rows->update, &bound, &node);
}

static heddle_status weights(rows_builder *builder)
{
    const heddle_placed places[] = {
        {"table", builder->rows->table},
        {"parameters", builder->state->bank[HEDDLE_BANK_PARAMETERS]},
        {"copies", builder->rows->copies},
        {"vectors", builder->rows->vectors},
    };
    return over_parameters(builder, "rows_weights", places, sizeof places / sizeof *places);
}

static heddle_status update(rows_builder *builder)
{
    float *const *bank = builder->state->bank;
    const heddle_placed places[] = {
        {"table", builder->rows->table},
        {"parts", builder->rows->parts},
        {"hyper", builder->state->hyper},
        {"parameters", bank[HEDDLE_BANK_PARAMETERS]},
        {"copies", builder->rows->copies},
        {"vectors", builder->rows->vectors},
        {"first_moment", bank[HEDDLE_BANK_MOMENT1]},
        {"second_moment", bank[HEDDLE_BANK_MOMENT2]},
    };
    return over_parameters(builder, "rows_update", places, sizeof places / sizeof *places);
}

static heddle_status collect(rows_builder *builder)
{
    const heddle_placed places[] = {
        {"table", builder->rows->table},
        {"parts", builder->rows->parts},
        {"gradients", builder->state->bank[HEDDLE_BANK_GRADIENTS]},
    };
    return over_parameters(builder, "rows_collect", places, sizeof places / sizeof *places);
}

// --- the step --------------------------------------------------------------------------------------------------------

// On a card, only with rungs made for it: the naive ones are for the simulated GPU and for comparing.
static bool has_rungs(const heddle_plan *plan, const heddle_rows *rows)
{
    const heddle_op *op;
    const heddle_rung *rung;
    const heddle_device_kind device = heddle_device_get_kind(plan->device);
    if (heddle_op_find("rows_conv_forward", &op) != HEDDLE_OK ||
        heddle_rung_choose(op, device, HEDDLE_FUSED, plan->options.arithmetic, &rows->groups[0].shape, &rung) !=
            HEDDLE_OK)
        return false;
    return device == HEDDLE_SIM || rung->tier == HEDDLE_FUSED;
}

static bool wanted(const heddle_plan *plan)
{
    // rows_gather does not move images.
    return plan->options.training && plan->options.feed && !plan->options.feed->moves &&
           plan->options.kernels == HEDDLE_FUSED &&
           (plan->options.arithmetic == HEDDLE_BFLOAT || plan->options.arithmetic == HEDDLE_TF32) &&
           heddle_plan_ranks(plan) == 1 && heddle_device_get_kind(plan->device) != HEDDLE_CPU;
}

// fp16 has the bits of tf32, but not its range: gradients are scaled up, as if the loss were a sum and more.
static void set_element(heddle_rows *rows, const heddle_plan *plan)
{
    rows->half = plan->options.arithmetic == HEDDLE_TF32;
    for (int i = 0; i < rows->group_count; i++)
        rows->groups[i].shape.half = rows->half;
    rows->update.half = rows->half;
    rows->update.scale = rows->half ? HALF_SCALE : 0;
    for (int batch = plan->options.batch; rows->half && batch > 1; batch /= 2)
        rows->update.scale++;
}

static bool is_small(const heddle_rows *rows)
{
    double bytes = 0;
    for (int i = 0; i < rows->group_count; i++) {
        const heddle_rows_conv_shape *shape = &rows->groups[i].shape;
        bytes += (double)heddle_rows_conv_rows(shape) * (shape->c + shape->k) * sizeof(uint16_t);
    }
    return bytes <= SMALL_BYTES;
}

heddle_status heddle_plan_rows(heddle_plan *plan, heddle_state *state, heddle_stream *stream,
                               const heddle_value *parameters, bool *made)
{
    *made = false;
    if (!wanted(plan))
        return HEDDLE_OK;
    heddle_rows *rows = plan->rows = calloc(1, sizeof *rows);
    if (!rows)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a plan");
    if (!heddle_rows_group_layers(state->model, plan->options.batch, rows) || !has_rungs(plan, rows))
        return HEDDLE_OK;
    set_element(rows, plan);
    HEDDLE_TRY(heddle_rows_place(plan, state, stream, rows));
    rows_builder builder = {
        .plan = plan, .state = state, .parameters = parameters, .rows = rows, .is_small = is_small(rows)};
    *made = true;
    HEDDLE_TRY(weights(&builder));
    plan->once = plan->options.keep_gradients ? 0 : plan->trace.node_count; // an update leaves the copies up to date
    HEDDLE_TRY(forward(&builder));
    HEDDLE_TRY(backward(&builder));
    plan->update_call = plan->trace.node_count;
    return plan->options.keep_gradients ? collect(&builder) : update(&builder);
}
