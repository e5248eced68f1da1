// dropout: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_dropout_forward, heddle_op_dropout_backward;

heddle_status heddle_dropout_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_dropout_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_dropout_forward_cpu_vectorised(const heddle_call *call);
heddle_status heddle_dropout_backward_cpu_vectorised(const heddle_call *call);

// The factor of an element that is kept, so that the expected sum does not change.
static inline float heddle_dropout_scale(const heddle_dropout_shape *shape)
{
    return shape->probability < 1.0f ? 1.0f / (1.0f - shape->probability) : 0.0f;
}
