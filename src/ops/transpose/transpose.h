// transpose: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_transpose;

heddle_status heddle_transpose_cpu_naive(const heddle_call *call);
heddle_status heddle_transpose_cpu_blocked(const heddle_call *call);
