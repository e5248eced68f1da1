// layernorm, rung 4: rows in registers, moved by 16-byte loads and stores.
//
// Rung 3 read a row twice, 4 bytes per load, and used either a warp or a block for it. Here a group that just fits the
// row (row_group.h: from 4 threads to 512) holds all of it in registers. The row is read once, with all loads in flight
// at once, and written once. With the elements in registers no running mean is needed: a center near the mean is found
// first, then the differences from it and their squares together. If the mean is far from 0 the differences are exact,
// and their mean is what the float that holds the center has lost.
//
// Backward, a block goes from row to row and keeps its share of the columns' sums in registers (in shared memory where
// rows are longest), each thread for its own columns. So input and grad_output are read once for all three gradients.
// The blocks' sums go to the workspace, and a second kernel adds them in a fixed order: the same bits every time.
//
// Rows whose length is not a multiple of 4, or whose start is not 16-byte aligned, are moved 4 bytes at a time, still
// coalesced. Rows too long for any group are processed piece by piece, three times forward and twice backward.
//
// Limited by: memory bandwidth.

#include "ops/layernorm/vectorised.h"

static heddle_status launch_forward(const heddle_call *call)
{
    const norm_forward of = norm_forward_of_layernorm(call);
    norm_forward_queue<true>((const heddle_layernorm_shape *)call->shape, &of, heddle_cuda_stream_of(call));
    return heddle_cuda_launched("04_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const norm_gradients all = norm_gradients_of_layernorm(call);
    norm_backward_queue<true>((const heddle_layernorm_shape *)call->shape, &all, (float *)call->output[1],
                              (float *)call->output[2], heddle_cuda_stream_of(call));
    return heddle_cuda_launched("04_vectorised");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "04_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("layernorm_backward", "04_vectorised", launch_backward)
