// sum and mean over all elements: their operators and rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_sum_forward, heddle_op_sum_backward;
extern const heddle_op heddle_op_mean_forward, heddle_op_mean_backward;

heddle_status heddle_sum_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_sum_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_mean_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_mean_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_sum_forward_cpu_pieces(const heddle_call *call);
heddle_status heddle_sum_backward_cpu_pieces(const heddle_call *call);
heddle_status heddle_mean_forward_cpu_pieces(const heddle_call *call);
heddle_status heddle_mean_backward_cpu_pieces(const heddle_call *call);
size_t heddle_reduction_forward_cpu_pieces_workspace(const void *shape, int threads);
