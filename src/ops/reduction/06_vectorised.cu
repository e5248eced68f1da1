// sum and mean, rung 6: the grid fills the GPU once, and each thread adds many elements with 16-byte loads.
//
// Rung 5 built a tree for every 256 elements, on four levels. Here a thread first adds all its elements in a register,
// sixteen floats at a time from four loads in flight. Each block builds one tree, and a second, small kernel adds the
// sums of the blocks. Backward, a thread stores 16 bytes at a time.
//
// Limited by: memory bandwidth. The input is read once, and little else moves.

#include "heddle/ops.h"
#include "ops/reduction/vectorised.h"

// grad_output: (1), grad_input: (n)
template <bool aligned>
__global__ void spread_vectorised(int n, float divisor, const float *grad_output, float *grad_input)
{
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    float grad = *grad_output / divisor;
    if (first + HEDDLE_VECTOR <= (size_t)n)
        heddle_store4<aligned>(grad_input + first, make_float4(grad, grad, grad, grad));
    else
        for (size_t i = first; i < (size_t)n; i++)
            grad_input[i] = grad;
}

static heddle_status forward(const heddle_call *call, float divisor)
{
    heddle_sum_queue<false>(((const heddle_elements_shape *)call->shape)->n, divisor, (const float *)call->input[0],
                            nullptr, (float *)call->workspace, (float *)call->output[0], heddle_cuda_stream_of(call));
    return heddle_cuda_launched("06_vectorised");
}

static heddle_status backward(const heddle_call *call, float divisor)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    float *grad_input = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(n, HEDDLE_VECTOR));
    if (blocks > 0)
        (heddle_aligned16(grad_input)
             ? spread_vectorised<true>
             : spread_vectorised<false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, divisor, (const float *)call->input[0], grad_input);
    return heddle_cuda_launched("06_vectorised");
}

static float elements(const heddle_call *call)
{
    return (float)((const heddle_elements_shape *)call->shape)->n;
}

static heddle_status launch_sum_forward(const heddle_call *call)
{
    return forward(call, 1.0f);
}

static heddle_status launch_mean_forward(const heddle_call *call)
{
    return forward(call, elements(call));
}

static heddle_status launch_sum_backward(const heddle_call *call)
{
    return backward(call, 1.0f);
}

static heddle_status launch_mean_backward(const heddle_call *call)
{
    return backward(call, elements(call));
}

HEDDLE_CUDA_RUNG("sum_forward", "06_vectorised", launch_sum_forward)
HEDDLE_CUDA_RUNG("mean_forward", "06_vectorised", launch_mean_forward)
HEDDLE_CUDA_RUNG("sum_backward", "06_vectorised", launch_sum_backward)
HEDDLE_CUDA_RUNG("mean_backward", "06_vectorised", launch_mean_backward)
