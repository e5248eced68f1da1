// linear, tf32, rung 4: wgmma in persistent blocks.
//
// Rung 3 moved every operand through registers. This is the kernel of matmul's rung 14: TMA fills shared memory and
// wgmma reads it there. Input and weight both lie along the summed dimension, which is what wgmma needs for floats. The
// bias is added to a finished tile in registers.
//
// Limited by: the tensor cores and their power, for large layers. A cluster computes 256 by 256 of the output, so that
// small ones leave most SMs idle.

#include "ops/cuda/hopper.h"
#include "ops/linear/linear_tf32_cuda.h"
#include "ops/matmul/matmul_tf32_cuda.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape product = linear_tf32_product(call);
    if (!tma_takes(call))
        return heddle_linear_tf32_mma_sync(call);
    return heddle_matmul_tf32_persistent(call, &product, (const float *)call->input[2], "04_tf32_wgmma");
}

HEDDLE_CUDA_RUNG("linear_forward", "04_tf32_wgmma", launch)
