// conv2d_bias_relu, rung 4: the same for 3x3 windows with stride 1, in conv2d's rung 5: strips of rows straight from
// the image, 14 pixels by 4 filters in registers.
//
// Rung 3 gathers every element once per tap, nine times, and loads 16 numbers for 64 multiplications; a strip serves
// three taps of 14 outputs from 16 pixels.
//
// Limited by: multiplications, which are nearly all of the instructions.

#include "ops/conv2d/row_strips_kernel.h"

static heddle_status launch_fused(const heddle_call *call)
{
    launch_strips<true>(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape),
                        (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
                        (float *)call->output[0]);
    return heddle_cuda_launched("04_fused_row_strips");
}

HEDDLE_CUDA_RUNG("conv2d_bias_relu", "04_fused_row_strips", launch_fused)
