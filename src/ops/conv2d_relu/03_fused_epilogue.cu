// conv2d_bias_relu, rung 3: implicit GEMM with bias and relu in its epilogue.
//
// Rung 2 reads and writes the output a second time to clear negative elements. Here a sum is still in a register when
// the bias is added and relu applied: one more instruction per element, and no memory traffic.
//
// Limited by: instructions other than multiplications, like conv2d's rung 4.

#include "ops/conv2d/implicit_kernel.h"

static heddle_status launch_fused(const heddle_call *call)
{
    launch<true>(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
                 (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("03_fused_epilogue");
}

HEDDLE_CUDA_RUNG("conv2d_bias_relu", "03_fused_epilogue", launch_fused)
