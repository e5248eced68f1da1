// A training step over rows: whether there is one, its parameters' copies and their update. rows_forward.c and
// rows_backward.c have what is between.

#include <stdlib.h>

#include "nn/rows_build.h"
#include "ops/rows_conv/rows_conv.h"

enum {
    // Activations of a step whose kernels leave multiprocessors idle: gradients of weights run beside the way back.
    SMALL_BYTES = 64 << 20,
    // By how much more than its batch a gradient in fp16 is scaled up: its logits' are below 128, so that sums have
    // room for 512 times as much, and the gradients of early layers are far above the smallest number.
    HALF_SCALE = 7,
    // Rows up to which one block, or one cluster, has the whole sum of a weight: the weights, and not the rows, give
    // every multiprocessor something to do.
    STEP_ROWS = 2048,
    // Beyond these, the rung that shares rows is needed, and it moves four weights at a time.
    FEW_ROWS = 256,
    VECTOR = 4,
};

// --- parameters ------------------------------------------------------------------------------------------------------

// An operator over parameters: rows_weights, rows_collect or rows_update.
static heddle_status over_parameters(heddle_rows_builder *builder, const char *name,
                                     const heddle_rows_update_shape *shape, const heddle_placed *places, int count)
{
    heddle_rows_bindings bound = {.count = 0};
    int node;
    return heddle_rows_apply_placed(builder, name, shape, &bound, places, count, &node);
}

heddle_status heddle_rows_copy_weights(heddle_rows_builder *builder)
{
    heddle_rows_for(builder, HEDDLE_PHASE_UPDATE, NULL, NULL);
    const heddle_placed places[] = {
        {"table", builder->rows->table},
        {"parameters", builder->state->bank[HEDDLE_BANK_PARAMETERS]},
        {"copies", builder->rows->copies},
        {"vectors", builder->rows->vectors},
    };
    return over_parameters(builder, "rows_weights", &builder->rows->update, places, sizeof places / sizeof *places);
}

// Of the parameters that no operator of their own has updated.
static heddle_status update(heddle_rows_builder *builder)
{
    float *const *bank = builder->state->bank;
    heddle_rows_update_shape rest = builder->rows->update;
    heddle_rows_for(builder, HEDDLE_PHASE_UPDATE, NULL, NULL);
    rest.segments = builder->rows->rest_segments;
    rest.tiles = builder->rows->rest_tiles;
    if (rest.segments == 0)
        return HEDDLE_OK;
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
    return over_parameters(builder, "rows_update", &rest, places, sizeof places / sizeof *places);
}

static heddle_status collect(heddle_rows_builder *builder)
{
    heddle_rows_for(builder, HEDDLE_PHASE_UPDATE, NULL, NULL);
    const heddle_placed places[] = {
        {"table", builder->rows->table},
        {"parts", builder->rows->parts},
        {"gradients", builder->state->bank[HEDDLE_BANK_GRADIENTS]},
    };
    return over_parameters(builder, "rows_collect", &builder->rows->update, places, sizeof places / sizeof *places);
}

// --- the step --------------------------------------------------------------------------------------------------------

// On a card, only with rungs made for it: the naive ones are for the simulated GPU and for comparing.
bool heddle_rows_has_rungs(const heddle_plan *plan, const heddle_rows *rows)
{
    const heddle_op *op;
    const heddle_rung *rung;
    const heddle_device_kind device = heddle_device_get_kind(plan->device);
    if (heddle_op_find("rows_conv_forward", &op) != HEDDLE_OK ||
        heddle_rung_choose(op, device, HEDDLE_FUSED, plan->options.arithmetic, &rows->groups[0].shape, &rung) !=
            HEDDLE_OK)
        return false;
    return device != HEDDLE_CUDA || rung->tier == HEDDLE_FUSED;
}

static bool wanted(const heddle_plan *plan)
{
    // rows_gather does not move images.
    return plan->options.training && plan->options.feed && !plan->options.feed->moves &&
           plan->options.kernels == HEDDLE_FUSED && plan->options.arithmetic != HEDDLE_FULL &&
           plan->options.arithmetic != HEDDLE_INT8 && heddle_plan_ranks(plan) == 1 &&
           heddle_device_get_kind(plan->device) != HEDDLE_CPU;
}

// fp16 has the bits of tf32, a pair of them nearly those of float32, but not their range: gradients are scaled up, as
// if the loss were a sum and more.
static void set_element(heddle_rows *rows, const heddle_plan *plan)
{
    const bool scaled = rows->half || rows->pairs;
    for (int i = 0; i < rows->group_count; i++) {
        rows->groups[i].shape.half = rows->half;
        rows->groups[i].shape.pairs = rows->pairs;
    }
    rows->update.half = rows->half;
    rows->update.pairs = rows->pairs;
    rows->update.scale = scaled ? HALF_SCALE : 0;
    for (int batch = plan->options.batch; scaled && batch > 1; batch /= 2)
        rows->update.scale++;
}

// Whether an operator makes a group's gradients and updates its parameters at once: a linear layer of not too many
// rows, whose columns lie as those of its parameter.
static bool has_own_step(const heddle_plan *plan, const heddle_rows *rows, const heddle_rows_group *group)
{
    const heddle_rows_group *from = group->from < 0 ? NULL : &rows->groups[group->from];
    const heddle_op *op;
    const heddle_rung *rung;
    if (plan->options.keep_gradients || !group->product || group->product->in_rank == 3 || group->shape.n > STEP_ROWS ||
        (group->shape.n > FEW_ROWS && group->product->in[0] % VECTOR) || (from && from->next_h * from->next_w > 1))
        return false;
    const heddle_rows_linear_step_shape shape = heddle_rows_step_of(plan, rows, group);
    return heddle_op_find("rows_linear_step", &op) == HEDDLE_OK && heddle_shape_validate(op, &shape) == HEDDLE_OK &&
           heddle_rung_choose(op, heddle_device_get_kind(plan->device), HEDDLE_FUSED, plan->options.arithmetic, &shape,
                              &rung) == HEDDLE_OK;
}

static bool is_small(const heddle_rows *rows)
{
    double bytes = 0;
    for (int i = heddle_rows_trunk_groups(rows); i < rows->group_count; i++) {
        const heddle_rows_conv_shape *shape = &rows->groups[i].shape;
        bytes += (double)heddle_rows_conv_rows(shape) * (shape->c + shape->k) *
                 (double)heddle_dtype_size(heddle_rows_dtype(rows));
    }
    return bytes <= SMALL_BYTES;
}

// Whether the plan's device has rungs for a plain product, as of a model that fits.
static bool has_products(const heddle_plan *plan, heddle_rows *rows)
{
    const heddle_rows_conv_shape shape = {
        .n = plan->options.batch, .h = 1, .w = 1, .r = 1, .s = 1, .c = 64, .k = 64, .parts = 1};
    rows->groups[0].shape = shape;
    rows->group_count = 1;
    set_element(rows, plan);
    const bool has = heddle_rows_has_rungs(plan, rows);
    rows->group_count = 0;
    return has;
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
    rows->half = plan->options.arithmetic == HEDDLE_TF32 || plan->options.arithmetic == HEDDLE_FP16;
    rows->pairs = plan->options.arithmetic == HEDDLE_TF32X3;
    if (!heddle_rows_group_layers(state->model, plan->options.batch, rows)) {
        if (!has_products(plan, rows))
            rows->misfit = NULL; // another model would not do better
        return HEDDLE_OK;
    }
    set_element(rows, plan);
    if (!heddle_rows_has_rungs(plan, rows))
        return HEDDLE_OK;
    heddle_rows_find_trunk(plan, state->model, rows);
    for (int i = 0; i < rows->group_count; i++)
        rows->groups[i].steps = has_own_step(plan, rows, &rows->groups[i]);
    HEDDLE_TRY(heddle_rows_place(plan, state, stream, rows));
    heddle_rows_builder builder = {
        .plan = plan, .state = state, .parameters = parameters, .rows = rows, .is_small = is_small(rows)};
    *made = true;
    HEDDLE_TRY(heddle_rows_copy_weights(&builder));
    plan->once = plan->options.keep_gradients ? 0 : plan->trace.node_count; // an update leaves the copies up to date
    HEDDLE_TRY(heddle_rows_forward(&builder));
    HEDDLE_TRY(heddle_rows_backward(&builder));
    // The first that reads gradients of weights, or what an update changes.
    plan->update_call = plan->join_call = plan->trace.node_count;
    return plan->options.keep_gradients ? collect(&builder) : update(&builder);
}
