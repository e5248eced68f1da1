// hello_index: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_hello_index;

heddle_status heddle_hello_index_cpu_naive(const heddle_call *call);
