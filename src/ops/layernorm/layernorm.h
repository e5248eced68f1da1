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

// The longest rows that are prefetched, in whole vectors, forward and backward.
enum { HEDDLE_LAYERNORM_LONGEST = 16384, HEDDLE_LAYERNORM_LONGEST_BACKWARD = 8192 };
static inline bool heddle_layernorm_is_prefetched(int cols, int longest)
{
    const int vector = 4;
    return cols <= longest && cols % vector == 0;
}

// Whether it pays to prefetch rows: there are several times more of them than the shared memory of a large GPU holds.
// With very short rows, registers have as many loads in flight.
static inline bool heddle_layernorm_has_turns(int rows, int cols)
{
    const int shortest = 128;
    const double least_elements = 8e6;
    return cols > shortest && (double)rows * cols >= least_elements;
}

heddle_status heddle_layernorm_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_layernorm_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_layernorm_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_layernorm_backward_cpu_rows(const heddle_call *call);

// Rung 4, which takes what rung 5 cannot.
heddle_status heddle_layernorm_forward_vectorised(const heddle_call *call);
heddle_status heddle_layernorm_backward_vectorised(const heddle_call *call);
