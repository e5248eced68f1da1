// scale_unless_one: its operator and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_scale_unless_one;

heddle_status heddle_scale_unless_one_cpu_naive(const heddle_call *call);
heddle_status heddle_scale_unless_one_cpu_pieces(const heddle_call *call);
