// matmul_fp8: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_matmul_fp8;

heddle_status heddle_matmul_fp8_cpu_naive(const heddle_call *call);
