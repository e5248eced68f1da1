// rmsnorm, rung 3: rows in registers, moved by 16-byte loads and stores.
//
// Rung 2 read a row twice forward and three times backward, 4 bytes per load. Here a group that just fits the row holds
// all of it in registers, so that it is read once and written once. Backward, a block goes from row to row and keeps
// its share of the columns' sums; a second kernel adds the blocks' sums in a fixed order. The kernels are layernorm's
// (vectorised.h), without mean and beta.
//
// Limited by: memory bandwidth.

#include "ops/layernorm/vectorised.h"

static heddle_status launch_forward(const heddle_call *call)
{
    const norm_forward of = norm_forward_of_rmsnorm(call);
    norm_forward_queue<false>((const heddle_layernorm_shape *)call->shape, &of, heddle_cuda_stream_of(call));
    return heddle_cuda_launched("03_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const norm_gradients all = norm_gradients_of_rmsnorm(call);
    norm_backward_queue<false>((const heddle_layernorm_shape *)call->shape, &all, (float *)call->output[1], nullptr,
                               heddle_cuda_stream_of(call));
    return heddle_cuda_launched("03_vectorised");
}

HEDDLE_CUDA_RUNG("rmsnorm_forward", "03_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("rmsnorm_backward", "03_vectorised", launch_backward)
