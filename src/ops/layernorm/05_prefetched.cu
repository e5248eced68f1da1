// layernorm, rung 5: a group's next rows are always on their way.
//
// In rung 4 a group asks for its row, waits, reduces, stores and ends; while it reduces and stores it has nothing on
// its way, and a new block must start before it has. Here as many blocks as fit go from row to row. Each thread copies
// its vectors of the next two rows by cp.async to slots of shared memory that no other thread uses, so that no barrier
// guards them and no registers hold them. A row moves from its slots to registers as soon as it has arrived, and the
// slots receive the row after the next. So two rows per group are in flight at any time: nearly 200 KB per SM, forward
// with 768 columns. From the second row on, gamma and beta come from the L1 cache.
//
// Backward, both inputs are fetched this way. Once the last row is done, the groups of a block meet in the slots. The
// kernel that adds the blocks' sums starts before the last block has ended (dependent.h).
//
// Rows that rung 4 moves 4 bytes at a time, or reads several times, are left to it.
//
// Limited by: memory bandwidth.

#include "ops/layernorm/prefetched.h"

static heddle_status launch_forward(const heddle_call *call)
{
    const norm_forward of = norm_forward_of_layernorm(call);
    if (!norm_forward_prefetched<true>((const heddle_layernorm_shape *)call->shape, &of, heddle_cuda_stream_of(call)))
        return heddle_layernorm_forward_vectorised(call);
    return heddle_cuda_launched("05_prefetched");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const norm_gradients all = norm_gradients_of_layernorm(call);
    if (!norm_backward_prefetched<true>((const heddle_layernorm_shape *)call->shape, &all, (float *)call->output[1],
                                        (float *)call->output[2], heddle_cuda_stream_of(call)))
        return heddle_layernorm_backward_vectorised(call);
    return heddle_cuda_launched("05_prefetched");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "05_prefetched", launch_forward)
HEDDLE_CUDA_RUNG("layernorm_backward", "05_prefetched", launch_backward)
