// histogram: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_histogram;

heddle_status heddle_histogram_cpu_naive(const heddle_call *call);
