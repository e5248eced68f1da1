// conv2d_bias_relu, rung 2: conv2d's implicit GEMM (its rung 4), which adds the bias in its epilogue, then a second
// kernel over the output that sets negative elements to 0.
//
// Rung 1 loads twice per multiplication; conv2d's kernel has 8 by 8 sums in registers instead.
//
// Limited by: memory traffic of the second pass, which reads and writes the whole output again: two thirds of all
// traffic if input and output have the same size.

#include "ops/conv2d/implicit_kernel.h"

__global__ void conv2d_relu_pass(size_t count, float *values)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        values[at] = conv2d_epilogue<true>(values[at]);
}

static heddle_status launch_two(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    size_t outputs = (size_t)conv2d_pixels(&view) * view.filters;
    float *output = (float *)call->output[0];
    launch<false>(call, view, (const float *)call->input[0], (const float *)call->input[1],
                  (const float *)call->input[2], output);
    if (outputs > 0)
        conv2d_relu_pass<<<heddle_cuda_blocks(outputs), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(outputs,
                                                                                                             output);
    return heddle_cuda_launched("02_two_passes");
}

HEDDLE_CUDA_RUNG("conv2d_bias_relu", "02_two_passes", launch_two)
