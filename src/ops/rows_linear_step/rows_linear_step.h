// rows_linear_step: its operator.
#pragma once

#include "ops/rows_update/rows_update.h"

extern const heddle_op heddle_op_rows_linear_step;

// The outputs of a call, in order.
typedef enum heddle_linear_step_output {
    HEDDLE_LINEAR_STEP_WEIGHT,
    HEDDLE_LINEAR_STEP_COPY,
    HEDDLE_LINEAR_STEP_FIRST_MOMENT,
    HEDDLE_LINEAR_STEP_SECOND_MOMENT,
    HEDDLE_LINEAR_STEP_BIAS,
    HEDDLE_LINEAR_STEP_BIAS_COPY,
    HEDDLE_LINEAR_STEP_BIAS_FIRST_MOMENT,
    HEDDLE_LINEAR_STEP_BIAS_SECOND_MOMENT,
} heddle_linear_step_output;

// The optimiser of a call: one that has room for the moments of both weight and bias.
static inline int heddle_linear_step_optimizer(const heddle_rows_linear_step_shape *shape, const void *const *output)
{
    const bool bias = output[HEDDLE_LINEAR_STEP_BIAS];
    const void *const first =
        bias && !output[HEDDLE_LINEAR_STEP_BIAS_FIRST_MOMENT] ? NULL : output[HEDDLE_LINEAR_STEP_FIRST_MOMENT];
    const void *const second =
        bias && !output[HEDDLE_LINEAR_STEP_BIAS_SECOND_MOMENT] ? NULL : output[HEDDLE_LINEAR_STEP_SECOND_MOMENT];
    return heddle_rows_optimizer(shape->optimizer, first, second);
}

// Rung 1, which takes what another rung cannot.
heddle_status heddle_linear_step_tensor_cores(const heddle_call *call);
