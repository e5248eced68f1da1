// polynomial: its operator and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_polynomial;

heddle_status heddle_polynomial_cpu_naive(const heddle_call *call);
heddle_status heddle_polynomial_cpu_vectorised(const heddle_call *call);
