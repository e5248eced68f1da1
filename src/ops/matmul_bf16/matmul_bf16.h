// matmul_bf16: its operator and its rungs.
#ifndef HEDDLE_OPS_MATMUL_BF16_H
#define HEDDLE_OPS_MATMUL_BF16_H

#include "heddle/op.h"

extern const heddle_op heddle_op_matmul_bf16_forward;

heddle_status heddle_matmul_bf16_forward_cpu_naive(const heddle_call *call);

#endif
