// token_loss: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_token_loss_forward, heddle_op_token_loss_backward, heddle_op_token_loss_both;

heddle_status heddle_token_loss_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_token_loss_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_token_loss_both_cpu_naive(const heddle_call *call);
heddle_status heddle_token_loss_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_token_loss_backward_cpu_rows(const heddle_call *call);
heddle_status heddle_token_loss_both_cpu_rows(const heddle_call *call);

// HEDDLE_INVALID, naming row and label, when a label is neither ignored nor in [0, cols).
heddle_status heddle_token_loss_check_labels(const heddle_token_loss_shape *shape, const int64_t *labels);
