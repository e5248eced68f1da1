// add and multiply, rung 4: as many blocks as the GPU holds at once, looping with a stride of the whole grid.
//
// Rung 3 started a block for every 256 elements. Here the blocks are started once, for any number of elements, and a
// thread already has the addresses of its next loads.
//
// Limited by: memory bandwidth, as far as 4-byte loads can use it: for every 16 bytes of the operands, four times the
// instructions of rung 5.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { BLOCKS_AN_SM = 8 }; // 2048 threads: the most an SM holds

#define FOR_EACH_ELEMENT(i, n)                                                                                         \
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (size_t)(n); i += (size_t)gridDim.x * blockDim.x)

// Every array: (n). The output may be one of the inputs.
__global__ void add_forward_grid_stride(int n, const float *a, const float *b, float *output)
{
    FOR_EACH_ELEMENT(i, n)
    output[i] = a[i] + b[i];
}

__global__ void multiply_forward_grid_stride(int n, const float *a, const float *b, float *output)
{
    FOR_EACH_ELEMENT(i, n)
    output[i] = a[i] * b[i];
}

// grad_a and grad_b may be NULL.
__global__ void add_backward_grid_stride(int n, const float *grad_output, float *grad_a, float *grad_b)
{
    FOR_EACH_ELEMENT(i, n)
    {
        if (grad_a)
            grad_a[i] = grad_output[i];
        if (grad_b)
            grad_b[i] = grad_output[i];
    }
}

__global__ void multiply_backward_grid_stride(int n, const float *a, const float *b, const float *grad_output,
                                              float *grad_a, float *grad_b)
{
    FOR_EACH_ELEMENT(i, n)
    {
        if (grad_a)
            grad_a[i] = grad_output[i] * b[i];
        if (grad_b)
            grad_b[i] = grad_output[i] * a[i];
    }
}

static int elements(const heddle_call *call)
{
    return ((const heddle_elements_shape *)call->shape)->n;
}

// Enough blocks to fill the GPU, or fewer if there is less work.
static unsigned blocks_of(const heddle_call *call)
{
    unsigned needed = heddle_cuda_blocks(elements(call)), most = BLOCKS_AN_SM * heddle_cuda_multiprocessors();
    return needed < most ? needed : most;
}

static heddle_status launch_add_forward(const heddle_call *call)
{
    unsigned blocks = blocks_of(call);
    if (blocks > 0)
        add_forward_grid_stride<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("04_grid_stride");
}

static heddle_status launch_multiply_forward(const heddle_call *call)
{
    unsigned blocks = blocks_of(call);
    if (blocks > 0)
        multiply_forward_grid_stride<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("04_grid_stride");
}

static heddle_status launch_add_backward(const heddle_call *call)
{
    unsigned blocks = blocks_of(call);
    if (blocks > 0)
        add_backward_grid_stride<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("04_grid_stride");
}

static heddle_status launch_multiply_backward(const heddle_call *call)
{
    unsigned blocks = blocks_of(call);
    if (blocks > 0)
        multiply_backward_grid_stride<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("04_grid_stride");
}

HEDDLE_CUDA_RUNG("add_forward", "04_grid_stride", launch_add_forward)
HEDDLE_CUDA_RUNG("add_backward", "04_grid_stride", launch_add_backward)
HEDDLE_CUDA_RUNG("multiply_forward", "04_grid_stride", launch_multiply_forward)
HEDDLE_CUDA_RUNG("multiply_backward", "04_grid_stride", launch_multiply_backward)
