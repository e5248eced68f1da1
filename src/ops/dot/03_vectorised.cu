// dot, rung 3: the grid fills the GPU once, and each thread multiplies and adds many elements with 16-byte loads.
//
// Rung 2 built a tree and sent an atomic for every 256 elements. Here a thread adds all its products in a register, a
// block builds one tree, and a second, small launch adds the blocks' sums: no atomics, the same bits every time. The
// kernel is reduction's (vectorised.h), with a second operand.
//
// Limited by: memory bandwidth. Both inputs are read once, and little else moves.

#include "heddle/ops.h"
#include "ops/reduction/vectorised.h"

static heddle_status launch(const heddle_call *call)
{
    heddle_sum_queue<true>(((const heddle_elements_shape *)call->shape)->n, 1.0f, (const float *)call->input[0],
                           (const float *)call->input[1], (float *)call->workspace, (float *)call->output[0],
                           heddle_cuda_stream_of(call));
    return heddle_cuda_launched("03_vectorised");
}

HEDDLE_CUDA_RUNG("dot", "03_vectorised", launch)
