// gather: its operator and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_gather;

heddle_status heddle_gather_cpu_naive(const heddle_call *call);
