// matmul, tf32, rung 17: several blocks compute a tile, each a part of k.
//
// Rung 14 gives 256 by 256 of the output to two blocks: an output of 64 by 128 occupied 2 SMs, however long k. Here
// tiles have 64 or 128 rows and columns, and the blocks of a cluster divide k and add up their sums through distributed
// shared memory, as in matmul_bf16's rung 7. wgmma takes floats only K-major, a (m, k) and b (n, k), and TMA only rows
// of whole 16 bytes: other operands are copied first.
//
// Limited by: loads from L2. A tile of 128 by 128 needs twice the loads per product of one of 256 by 256.

#include "ops/matmul/matmul_tf32_cuda.h"
#include "ops/matmul/wgmma_split_k.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape shape = *(const heddle_matmul_shape *)call->shape;
    if (!split_takes(call, &shape))
        return heddle_matmul_tf32_mma_sync(call);
    const split_product<float> product = {shape, (const float *)call->input[0], (const float *)call->input[1],
                                          NULL,  (float *)call->output[0],      false};
    return split_launch<float>(call, product, "17_tf32_wgmma_split_k");
}

HEDDLE_CUDA_RUNG("matmul_forward", "17_tf32_wgmma_split_k", launch)
