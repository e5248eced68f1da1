// cross_entropy: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_cross_entropy_forward, heddle_op_cross_entropy_backward;

heddle_status heddle_cross_entropy_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_cross_entropy_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_cross_entropy_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_cross_entropy_backward_cpu_rows(const heddle_call *call);
size_t heddle_cross_entropy_forward_cpu_rows_workspace(const void *shape, int threads);

// What a GPU rung keeps of each row in its workspace, to be added in order.
typedef struct heddle_cross_entropy_row {
    float loss;
    int32_t correct;
} heddle_cross_entropy_row;

// HEDDLE_INVALID, naming row and label, when a label is not in [0, cols).
heddle_status heddle_cross_entropy_check_labels(const heddle_rows_shape *shape, const int32_t *labels);
