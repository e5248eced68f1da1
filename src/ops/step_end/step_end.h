// step_end: its operator.
#ifndef HEDDLE_OPS_STEP_END_H
#define HEDDLE_OPS_STEP_END_H

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_step_end;

#endif
