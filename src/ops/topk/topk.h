// topk: its operator and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_topk;

enum { HEDDLE_TOPK_MOST = 64 }; // the largest k

heddle_status heddle_topk_cpu_naive(const heddle_call *call);
heddle_status heddle_topk_cpu_threshold(const heddle_call *call);
