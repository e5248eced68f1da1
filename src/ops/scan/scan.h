// scan: its operator and its rungs.
#ifndef HEDDLE_OPS_SCAN_H
#define HEDDLE_OPS_SCAN_H

#include "heddle/op.h"

extern const heddle_op heddle_op_scan;

heddle_status heddle_scan_cpu_naive(const heddle_call *call);

#endif
