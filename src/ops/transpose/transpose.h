// transpose: its operator and its rungs.
#ifndef HEDDLE_OPS_TRANSPOSE_H
#define HEDDLE_OPS_TRANSPOSE_H

#include "heddle/op.h"

extern const heddle_op heddle_op_transpose;

heddle_status heddle_transpose_cpu_naive(const heddle_call *call);
heddle_status heddle_transpose_cpu_blocked(const heddle_call *call);

#endif
