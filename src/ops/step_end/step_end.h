// step_end: its operator.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_step_end;
