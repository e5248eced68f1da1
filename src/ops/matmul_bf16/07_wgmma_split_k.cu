// matmul_bf16, rung 7: several blocks compute a tile, each a part of k.
//
// Rung 6 gives a tile to one block. An output of few rows has fewer tiles than the GPU has SMs: 64 by 4096 are 16 tiles
// of 256 columns or 32 of 128, and the other SMs do nothing while b is read. Here the blocks of a cluster divide k, and
// add up their sums through distributed shared memory. Two blocks fit on an SM. Two neighbouring tiles share their rows
// of a, which TMA delivers to both.
//
// Limited by: reading b from device memory. The start of a cluster and the exchange of the sums come on top.

#include "ops/matmul/wgmma_split_k.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

template <int MMajorA, int MMajorB> static heddle_status launch_layout(const heddle_call *call)
{
    const split_product<__nv_bfloat16> product = {
        *(const heddle_matmul_shape *)call->shape, (const __nv_bfloat16 *)call->input[0],
        (const __nv_bfloat16 *)call->input[1], NULL, (__nv_bfloat16 *)call->output[0]};
    return split_launch<__nv_bfloat16, MMajorA, MMajorB>(call, &product, "07_wgmma_split_k");
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (!tma_takes(call))
        return heddle_matmul_bf16_mma_sync(call);
    if (shape->transpose_a)
        return shape->transpose_b ? launch_layout<1, 0>(call) : launch_layout<1, 1>(call);
    return shape->transpose_b ? launch_layout<0, 0>(call) : launch_layout<0, 1>(call);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "07_wgmma_split_k", launch)
