// Builds the trace of a step over rows: shared by rows.c, rows_forward.c and rows_backward.c.
#pragma once

#include "nn/rows.h"

enum { HEDDLE_ROWS_MOST_BOUND = 16 };

// Builds one plan's trace.
typedef struct heddle_rows_builder {
    heddle_plan *plan;
    heddle_state *state;
    const heddle_value *parameters;
    heddle_rows *rows;
    heddle_value labels;
    bool is_small;
    // Appends a group as one operator where it can, and sets *done; NULL: every group is two or three.
    heddle_status (*alone)(struct heddle_rows_builder *builder, heddle_rows_group *group, bool *done);
} heddle_rows_builder;

// Operands that are bound so far; values that do not exist are left out.
typedef struct heddle_rows_bindings {
    heddle_binding bound[HEDDLE_ROWS_MOST_BOUND];
    int count;
} heddle_rows_bindings;

// --- rows.c ----------------------------------------------------------------------------------------------------------

// Whether the plan's device has rungs for its products. On a GPU those must be made for it: the naive ones are for the
// simulated GPU and for comparing.
bool heddle_rows_has_rungs(const heddle_plan *plan, const heddle_rows *rows);
// 16-bit copies of the weights, and padded ones of the vectors.
heddle_status heddle_rows_copy_weights(heddle_rows_builder *builder);

// --- rows_build.c ----------------------------------------------------------------------------------------------------

// What the operators that follow are for: a group, or all from one to another.
void heddle_rows_for(heddle_rows_builder *builder, heddle_phase phase, const heddle_rows_group *group,
                     const heddle_rows_group *last);
void heddle_rows_bind(heddle_rows_bindings *to, const char *operand, heddle_value value);
heddle_status heddle_rows_apply(heddle_rows_builder *builder, const char *name, const void *shape,
                                const heddle_rows_bindings *bound, int *node);
// The same with more operands, in memory that is there; those without memory are left out.
heddle_status heddle_rows_apply_placed(heddle_rows_builder *builder, const char *name, const void *shape,
                                       heddle_rows_bindings *bound, const heddle_placed *places, int count, int *node);
// The value of a node's operand.
heddle_value heddle_rows_output(const heddle_rows_builder *builder, int node, const char *name);
// The group whose result it reads.
heddle_rows_group *heddle_rows_from(const heddle_rows_builder *builder, const heddle_rows_group *group);
// The copy of a group's weight.
heddle_status heddle_rows_weight(heddle_rows_builder *builder, const heddle_rows_group *group, heddle_value *value);
// A vector as operators take it: the parameter itself, or its padded copy.
heddle_status heddle_rows_vector(heddle_rows_builder *builder, int index, heddle_value *value);
// The bias of a group's product.
heddle_status heddle_rows_bias(heddle_rows_builder *builder, const heddle_rows_group *group, heddle_value *value);
// The scales of its sums; HEDDLE_NO_VALUE unless elements are bytes.
heddle_status heddle_rows_scale(heddle_rows_builder *builder, const heddle_rows_group *group, heddle_value *value);
// Where a gradient's parts go.
heddle_status heddle_rows_parts(heddle_rows_builder *builder, int index, heddle_value *value);
// Counters for the blocks of one call, zero between calls.
heddle_status heddle_rows_counters(heddle_rows_builder *builder, int count, heddle_value *value);
heddle_rows_patches_shape heddle_rows_patches_of(const heddle_rows_group *group, const heddle_rows_group *before,
                                                 int batch);
heddle_rows_norm_shape heddle_rows_norm_of(const heddle_rows_builder *builder, const heddle_rows_group *group);
// Of a linear layer.
heddle_rows_linear_step_shape heddle_rows_step_of(const heddle_plan *plan, const heddle_rows *rows,
                                                  const heddle_rows_group *group);
// Sums, gamma and beta of a group's batchnorm; without one, values that are never looked at.
heddle_status heddle_rows_bind_norm(heddle_rows_builder *builder, heddle_rows_group *group,
                                    heddle_rows_bindings *bound);
// The way around a residual.
heddle_value heddle_rows_added(const heddle_rows_builder *builder, const heddle_rows_group *group);
// Whether the last group is one operator from features to their gradient, rows_head.
bool heddle_rows_has_head(const heddle_rows *rows);

// --- rows_trunk.c ----------------------------------------------------------------------------------------------------

// The groups of the trunk: from the dataset to what the last of them leaves, and from its gradient to all of theirs.
heddle_status heddle_rows_trunk_forward(heddle_rows_builder *builder);
heddle_status heddle_rows_trunk_backward(heddle_rows_builder *builder);

// --- rows_forward.c --------------------------------------------------------------------------------------------------

heddle_status heddle_rows_forward(heddle_rows_builder *builder);

// --- rows_backward.c -------------------------------------------------------------------------------------------------

// The loss and all gradients; needs the values that the forward part has left in the groups.
heddle_status heddle_rows_backward(heddle_rows_builder *builder);
