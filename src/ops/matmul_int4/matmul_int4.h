// matmul_int4: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_matmul_int4;

heddle_status heddle_matmul_int4_cpu_naive(const heddle_call *call);
heddle_status heddle_matmul_int4_cpu_rows(const heddle_call *call);
