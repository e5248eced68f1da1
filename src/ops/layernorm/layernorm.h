// layernorm: its operators and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_layernorm_forward, heddle_op_layernorm_backward;

// Parts of the columns' sums that the GPU's backward pass may leave in its workspace, one per block: as many blocks as
// fill a large GPU, fewer for longer rows.
static inline int heddle_layernorm_parts(int rows, int cols)
{
    int most = cols <= 512 ? 1280 : cols <= 4096 ? 640 : 320;
    return rows < most ? rows : most;
}

heddle_status heddle_layernorm_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_layernorm_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_layernorm_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_layernorm_backward_cpu_rows(const heddle_call *call);
