// matmul_int8: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_matmul_int8;

heddle_status heddle_matmul_int8_cpu_naive(const heddle_call *call);
