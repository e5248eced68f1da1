// add and multiply, rung 3: a grid of blocks, one thread per element.
//
// Rung 2 ran on one SM. Here the blocks are spread over all SMs, as many at a time as fit. The `if` cuts off the end of
// the last block.
//
// Limited by: memory bandwidth, as far as two 4-byte loads per thread can use it; and one block has to be started for
// every 256 elements.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Every array: (n). The output may be one of the inputs.
__global__ void add_forward_grid(int n, const float *a, const float *b, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        output[i] = a[i] + b[i];
}

__global__ void multiply_forward_grid(int n, const float *a, const float *b, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        output[i] = a[i] * b[i];
}

// grad_a and grad_b may be NULL.
__global__ void add_backward_grid(int n, const float *grad_output, float *grad_a, float *grad_b)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    if (grad_a)
        grad_a[i] = grad_output[i];
    if (grad_b)
        grad_b[i] = grad_output[i];
}

__global__ void multiply_backward_grid(int n, const float *a, const float *b, const float *grad_output, float *grad_a,
                                       float *grad_b)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    if (grad_a)
        grad_a[i] = grad_output[i] * b[i];
    if (grad_b)
        grad_b[i] = grad_output[i] * a[i];
}

static int elements(const heddle_call *call)
{
    return ((const heddle_elements_shape *)call->shape)->n;
}

static heddle_status launch_add_forward(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        add_forward_grid<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("03_grid");
}

static heddle_status launch_multiply_forward(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        multiply_forward_grid<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("03_grid");
}

static heddle_status launch_add_backward(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        add_backward_grid<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("03_grid");
}

static heddle_status launch_multiply_backward(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        multiply_backward_grid<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("03_grid");
}

HEDDLE_CUDA_RUNG("add_forward", "03_grid", launch_add_forward)
HEDDLE_CUDA_RUNG("add_backward", "03_grid", launch_add_backward)
HEDDLE_CUDA_RUNG("multiply_forward", "03_grid", launch_multiply_forward)
HEDDLE_CUDA_RUNG("multiply_backward", "03_grid", launch_multiply_backward)
