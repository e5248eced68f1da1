// globalavgpool: its operators and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_globalavgpool_forward, heddle_op_globalavgpool_backward;

heddle_status heddle_globalavgpool_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_globalavgpool_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_globalavgpool_forward_cpu_planes(const heddle_call *call);
heddle_status heddle_globalavgpool_backward_cpu_planes(const heddle_call *call);
