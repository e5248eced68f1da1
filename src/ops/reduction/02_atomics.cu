// sum and mean, rung 2: one thread per element; each adds its element to the result with an atomic.
//
// Rung 1 had one thread. Here all threads run, and no addition is lost: atomicAdd reads, adds and writes in one step.
// The order of the additions is not defined, so the last bits of the result vary.
//
// Limited by: a single address. Its cache line accepts one addition at a time, no matter which thread sends it.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input: (n), output: (1), zero before the launch
__global__ void sum_by_atomics(int n, float divisor, const float *input, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        atomicAdd(output, input[i] / divisor);
}

static heddle_status launch(const heddle_call *call, float divisor)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    cudaMemsetAsync(call->output[0], 0, sizeof(float), heddle_cuda_stream_of(call));
    if (n > 0)
        sum_by_atomics<<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, divisor, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("02_atomics");
}

static heddle_status launch_sum(const heddle_call *call)
{
    return launch(call, 1.0f);
}

static heddle_status launch_mean(const heddle_call *call)
{
    return launch(call, (float)((const heddle_elements_shape *)call->shape)->n);
}

HEDDLE_CUDA_RUNG("sum_forward", "02_atomics", launch_sum)
HEDDLE_CUDA_RUNG("mean_forward", "02_atomics", launch_mean)
