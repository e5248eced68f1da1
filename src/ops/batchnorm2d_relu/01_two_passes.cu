// batchnorm2d_relu, rung 1: batchnorm2d's rung 1, then a second kernel over the output that sets negative elements to
// 0.
//
// Limited by: few threads with long sums, like batchnorm2d's rung 1; and the output is read and written once more.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

__global__ void batchnorm2d_relu_pass(size_t count, float *values)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count && values[at] < 0.0f)
        values[at] = 0.0f;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    size_t elements = (size_t)shape->n * shape->c * shape->h * shape->w;
    heddle_launcher *normalise = heddle_cuda_launcher("batchnorm2d_forward", "01_naive");
    HEDDLE_TRY(normalise(call));
    if (elements > 0)
        batchnorm2d_relu_pass<<<heddle_cuda_blocks(elements), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements, (float *)call->output[0]);
    return heddle_cuda_launched("01_two_passes");
}

HEDDLE_CUDA_RUNG("batchnorm2d_relu", "01_two_passes", launch)
