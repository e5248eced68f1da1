// rmsnorm, rung 4: a group's next rows are always on their way.
//
// In rung 3 a group asks for its row, waits, reduces, stores and ends; while it reduces and stores it has nothing on
// its way. Here as many blocks as fit go from row to row, and cp.async copies the next two rows of each group to shared
// memory meanwhile. The kernels are layernorm's (prefetched.h), without mean and beta.
//
// Limited by: memory bandwidth.

#include "ops/layernorm/prefetched.h"
#include "ops/rmsnorm/rmsnorm.h"

static heddle_status launch_forward(const heddle_call *call)
{
    const norm_forward of = norm_forward_of_rmsnorm(call);
    if (!norm_forward_prefetched<false>((const heddle_layernorm_shape *)call->shape, &of, heddle_cuda_stream_of(call)))
        return heddle_rmsnorm_forward_vectorised(call);
    return heddle_cuda_launched("04_prefetched");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const norm_gradients all = norm_gradients_of_rmsnorm(call);
    if (!norm_backward_prefetched<false>((const heddle_layernorm_shape *)call->shape, &all, (float *)call->output[1],
                                         nullptr, heddle_cuda_stream_of(call)))
        return heddle_rmsnorm_backward_vectorised(call);
    return heddle_cuda_launched("04_prefetched");
}

HEDDLE_CUDA_RUNG("rmsnorm_forward", "04_prefetched", launch_forward)
HEDDLE_CUDA_RUNG("rmsnorm_backward", "04_prefetched", launch_backward)
