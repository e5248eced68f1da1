// matmul_batched: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_matmul_batched_forward;

heddle_status heddle_matmul_batched_forward_cpu_naive(const heddle_call *call);
