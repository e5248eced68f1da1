// select: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_select;

heddle_status heddle_select_cpu_naive(const heddle_call *call);
heddle_status heddle_select_cpu_pieces(const heddle_call *call);
size_t heddle_select_cpu_pieces_workspace(const void *shape, int threads);
