// scan: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_scan;

heddle_status heddle_scan_cpu_naive(const heddle_call *call);
