// conv2d, rung 4: the product of rung 3 without its matrix. A block gathers its tile of the matrix of windows from the
// image straight into shared memory; a thread holds 8 pixels by 8 filters in registers.
//
// Rung 3 wrote r * s copies of the image to memory and read them back. Here a window's elements come from the cache,
// which neighbouring windows have filled. Taps are outermost in the sum, so that a thread checks bounds once for 8
// channels and computes its pixel's place once for the whole sum. The next tile is loaded into registers while this one
// is multiplied, and stored to the other half of shared memory: one barrier per step.
//
// Limited by: instructions other than multiplications: 4 loads of 16 bytes from shared memory for 64 multiplications,
// and every element gathered once per tap of its window. With a barrier every 8 channels, little is left to hide them
// behind.

#include "ops/conv2d/implicit_kernel.h"

static heddle_status launch_forward(const heddle_call *call)
{
    launch<false>(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
                  (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("04_implicit_gemm");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    launch<false>(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape),
                  (const float *)call->input[1], (const float *)call->input[0], NULL, (float *)call->output[0]);
    return heddle_cuda_launched("04_implicit_gemm");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "04_implicit_gemm", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "04_implicit_gemm", launch_backward_data)
