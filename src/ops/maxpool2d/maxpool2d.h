// maxpool2d: its operators and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_maxpool2d_forward, heddle_op_maxpool2d_backward;

heddle_status heddle_maxpool2d_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_maxpool2d_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_maxpool2d_forward_cpu_planes(const heddle_call *call);
heddle_status heddle_maxpool2d_backward_cpu_planes(const heddle_call *call);
