// linear, tf32, rung 5: several blocks compute a tile, each a part of the summed dimension.
//
// Rung 4 gave 256 by 256 of the output to two blocks: 1024 by 1024 occupied 32 of an H200's 132 SMs. Here tiles have 64
// or 128 rows and columns, and the blocks of a cluster divide the summed dimension, as in matmul_bf16's rung 7. They
// add up their sums, and the bias, through distributed shared memory. Operands whose rows TMA does not take are copied
// first, with padded rows.
//
// Limited by: loads from L2. A tile of 128 by 128 needs twice the loads per product of one of 256 by 256.

#include "ops/linear/linear_tf32_cuda.h"
#include "ops/matmul/wgmma_split_k.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape shape = linear_tf32_product(call);
    if (!split_takes(call, &shape))
        return heddle_linear_tf32_mma_sync(call);
    const split_product<float> product = {shape,
                                          (const float *)call->input[0],
                                          (const float *)call->input[1],
                                          (const float *)call->input[2],
                                          (float *)call->output[0],
                                          false};
    return split_launch<float>(call, product, "05_tf32_wgmma_split_k");
}

HEDDLE_CUDA_RUNG("linear_forward", "05_tf32_wgmma_split_k", launch)
