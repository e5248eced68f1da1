// rmsnorm: its operators and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_rmsnorm_forward, heddle_op_rmsnorm_backward;

heddle_status heddle_rmsnorm_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_rmsnorm_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_rmsnorm_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_rmsnorm_backward_cpu_rows(const heddle_call *call);
