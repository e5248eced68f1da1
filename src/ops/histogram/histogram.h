// histogram: its operator and its rungs.
#ifndef HEDDLE_OPS_HISTOGRAM_H
#define HEDDLE_OPS_HISTOGRAM_H

#include "heddle/op.h"

extern const heddle_op heddle_op_histogram;

heddle_status heddle_histogram_cpu_naive(const heddle_call *call);

#endif
