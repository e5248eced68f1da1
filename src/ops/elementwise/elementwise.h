// add and multiply: their operators and rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_add_forward, heddle_op_add_backward;
extern const heddle_op heddle_op_multiply_forward, heddle_op_multiply_backward;

heddle_status heddle_add_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_add_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_multiply_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_multiply_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_add_forward_cpu_vectorised(const heddle_call *call);
heddle_status heddle_add_backward_cpu_vectorised(const heddle_call *call);
heddle_status heddle_multiply_forward_cpu_vectorised(const heddle_call *call);
heddle_status heddle_multiply_backward_cpu_vectorised(const heddle_call *call);
