// conv2d_bias_relu's float64 reference as kernels: conv2d's, then relu.

#include "ops/conv2d/view.h"
#include "ops/cuda/rung.h"

__global__ void conv2d_relu_reference(size_t count, double *values)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count && values[at] < 0)
        values[at] = 0;
}

static heddle_status launch(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    size_t outputs = (size_t)conv2d_pixels(&view) * view.filters;
    heddle_launcher *convolve = heddle_cuda_launcher("conv2d_forward", "reference");
    HEDDLE_TRY(convolve(call));
    if (outputs > 0)
        conv2d_relu_reference<<<heddle_cuda_blocks(outputs), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            outputs, (double *)call->output[0]);
    return heddle_cuda_launched("reference");
}

HEDDLE_CUDA_REFERENCE("conv2d_bias_relu", launch)
