// step_end: its operator and its rungs.
#ifndef HEDDLE_OPS_STEP_END_H
#define HEDDLE_OPS_STEP_END_H

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_step_end;

heddle_status heddle_step_end_cpu_naive(const heddle_call *call);

#endif
