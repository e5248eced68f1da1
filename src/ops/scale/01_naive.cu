// scale_unless_one, rung 1: one thread per element.
//
// Limited by: requests to memory, which move 4 bytes per thread; where the factor is 1, by the time to start a thread
// for every element.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// values: (n), factor: (1)
__global__ void scale_naive(int n, const float *factor, float *values)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n && *factor != 1)
        values[i] *= *factor;
}

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    if (n > 0)
        scale_naive<<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("scale_unless_one", "01_naive", launch)
