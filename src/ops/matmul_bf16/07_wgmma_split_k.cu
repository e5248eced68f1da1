// matmul_bf16, rung 7: several blocks compute a tile, each a part of k.
//
// Rung 6 gives a tile to one block. An output of few rows has fewer tiles than the GPU has SMs: 64 by 4096 are 16 tiles
// of 256 columns or 32 of 128, and the other SMs do nothing while b is read. Here the blocks of a cluster divide k, and
// add up their sums through distributed shared memory. Two blocks fit on an SM. Two neighbouring tiles share their rows
// of a, which TMA delivers to both. Operands whose rows TMA does not take are copied first, with padded rows, so that
// the rung serves every shape.
//
// Limited by: reading b from device memory. The start of a cluster and the exchange of the sums come on top.

#include "ops/matmul/wgmma_split_k.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape shape = *(const heddle_matmul_shape *)call->shape;
    if (!split_takes(call, &shape))
        return heddle_matmul_bf16_mma_sync(call);
    const split_product<__nv_bfloat16> product = {
        shape, (const __nv_bfloat16 *)call->input[0], (const __nv_bfloat16 *)call->input[1],
        NULL,  (__nv_bfloat16 *)call->output[0],      false};
    return split_launch<__nv_bfloat16>(call, product, "07_wgmma_split_k");
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "07_wgmma_split_k", launch)
