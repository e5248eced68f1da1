// conv2d_bias_relu, rung 3: implicit GEMM with the bias and the sign on the way out.
//
// Rung 2 reads and writes the output a second time to look at its signs. Here a sum is still in a register when it is
// shifted and compared: one instruction more for an element, and no byte.
//
// Limited by: what limits conv2d's rung 4, instructions that are no multiplication.

#include "ops/conv2d/implicit_kernel.h"

static heddle_status launch_fused(const heddle_call *call)
{
    launch<true>(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
                 (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("03_fused_epilogue");
}

HEDDLE_CUDA_RUNG("conv2d_bias_relu", "03_fused_epilogue", launch_fused)
