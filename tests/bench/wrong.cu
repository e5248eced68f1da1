// Two rungs of add_forward that are wrong, under the names of right ones: in the tests' module they come first.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// The last element is not written.
__global__ void skips_the_last(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n - 1)
        output[i] = a[i] + b[i];
}

__global__ void zeros(int n, const float *, const float *, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        output[i] = 0.0f;
}

typedef void kernel_type(int n, const float *a, const float *b, float *output);

template <kernel_type *kernel> static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    if (n > 0)
        kernel<<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("wrong");
}

HEDDLE_CUDA_RUNG("add_forward", "03_grid", launch<skips_the_last>)
HEDDLE_CUDA_RUNG("add_forward", "04_grid_stride", launch<zeros>)
