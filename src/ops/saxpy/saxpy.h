// saxpy: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_saxpy;

heddle_status heddle_saxpy_cpu_naive(const heddle_call *call);
