// softmax and log_softmax: their operators and rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_softmax_forward, heddle_op_softmax_backward;
extern const heddle_op heddle_op_log_softmax_forward, heddle_op_log_softmax_backward;

heddle_status heddle_softmax_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_softmax_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_log_softmax_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_log_softmax_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_softmax_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_softmax_backward_cpu_rows(const heddle_call *call);
heddle_status heddle_log_softmax_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_log_softmax_backward_cpu_rows(const heddle_call *call);

// Rung 4, which takes what rungs 5 and 6 cannot.
heddle_status heddle_softmax_forward_vectorised(const heddle_call *call);
heddle_status heddle_log_softmax_forward_vectorised(const heddle_call *call);
heddle_status heddle_softmax_backward_vectorised(const heddle_call *call);
heddle_status heddle_log_softmax_backward_vectorised(const heddle_call *call);
