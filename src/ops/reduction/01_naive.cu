// sum and mean, rung 1. Forward: one thread adds everything, in double. Backward: one thread per element.
//
// Limited by: forward, a single thread on the whole GPU, which pays the latency of one addition per element.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input: (n), output: (1)
__global__ void sum_over(int n, double divisor, const float *input, float *output)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += input[i];
    *output = (float)(sum / divisor);
}

// grad_output: (1), grad_input: (n)
__global__ void spread_over(int n, float divisor, const float *grad_output, float *grad_input)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        grad_input[i] = *grad_output / divisor;
}

static int elements(const heddle_call *call)
{
    return ((const heddle_elements_shape *)call->shape)->n;
}

static heddle_status forward(const heddle_call *call, int divisor)
{
    sum_over<<<1, 1, 0, heddle_cuda_stream_of(call)>>>(elements(call), divisor, (const float *)call->input[0],
                                                       (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status backward(const heddle_call *call, int divisor)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        spread_over<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (float)divisor, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_sum_forward(const heddle_call *call)
{
    return forward(call, 1);
}

static heddle_status launch_sum_backward(const heddle_call *call)
{
    return backward(call, 1);
}

static heddle_status launch_mean_forward(const heddle_call *call)
{
    return forward(call, elements(call));
}

static heddle_status launch_mean_backward(const heddle_call *call)
{
    return backward(call, elements(call));
}

HEDDLE_CUDA_RUNG("sum_forward", "01_naive", launch_sum_forward)
HEDDLE_CUDA_RUNG("sum_backward", "01_naive", launch_sum_backward)
HEDDLE_CUDA_RUNG("mean_forward", "01_naive", launch_mean_forward)
HEDDLE_CUDA_RUNG("mean_backward", "01_naive", launch_mean_backward)
