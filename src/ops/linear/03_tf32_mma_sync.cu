// linear, tf32, rung 3: tensor cores by mma.sync.
//
// Rung 2 multiplied floats one by one. Here they are rounded to tf32, with 10 bits of mantissa, and a warp multiplies
// 16 by 8 by 8 of them with one instruction, on the tiles of matmul's rung 12. The bias is added to the sums in
// registers, in float32.
//
// Limited by: shared memory and issue slots. Every operand passes through registers. An output with few tiles of 128 by
// 256 leaves SMs idle.

#include "ops/linear/linear_tf32_cuda.h"
#include "ops/matmul/mma_sync.h"

heddle_status heddle_linear_tf32_mma_sync(const heddle_call *call)
{
    const heddle_matmul_shape product = linear_tf32_product(call);
    if (product.m == 0 || product.n == 0)
        return HEDDLE_OK;
    launch_layout<float, 0, 1>(call, &product, (const float *)call->input[2]);
    return heddle_cuda_launched("03_tf32_mma_sync");
}

HEDDLE_CUDA_RUNG("linear_forward", "03_tf32_mma_sync", heddle_linear_tf32_mma_sync)
