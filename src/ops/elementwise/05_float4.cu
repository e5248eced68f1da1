// add and multiply, rung 5: four elements per thread, by 16-byte loads and stores.
//
// Rung 4 used four times the instructions and requests for the same bytes, and had a quarter of the bytes in flight per
// waiting thread. A thread has one vector here, so all loads of a block are issued before the first is needed.
//
// Limited by: memory bandwidth. Every operand moves through memory once; nothing is left to save.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

// The thread's first element: its vector is [first, first + 4), cut off at n.
__device__ static size_t first_element(void)
{
    return HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ static float4 operator+(float4 x, float4 y)
{
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

__device__ static float4 operator*(float4 x, float4 y)
{
    return make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
}

// Every array: (n). The output may be one of the inputs.
template <bool aligned> __global__ void add_forward_float4(int n, const float *a, const float *b, float *output)
{
    size_t first = first_element();
    if (first + HEDDLE_VECTOR <= (size_t)n)
        heddle_store4<aligned>(output + first, heddle_load4<aligned>(a + first) + heddle_load4<aligned>(b + first));
    else
        for (size_t i = first; i < (size_t)n; i++)
            output[i] = a[i] + b[i];
}

template <bool aligned> __global__ void multiply_forward_float4(int n, const float *a, const float *b, float *output)
{
    size_t first = first_element();
    if (first + HEDDLE_VECTOR <= (size_t)n)
        heddle_store4<aligned>(output + first, heddle_load4<aligned>(a + first) * heddle_load4<aligned>(b + first));
    else
        for (size_t i = first; i < (size_t)n; i++)
            output[i] = a[i] * b[i];
}

// grad_a and grad_b may be NULL.
template <bool aligned>
__global__ void add_backward_float4(int n, const float *grad_output, float *grad_a, float *grad_b)
{
    size_t first = first_element();
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 grad = heddle_load4<aligned>(grad_output + first);
        if (grad_a)
            heddle_store4<aligned>(grad_a + first, grad);
        if (grad_b)
            heddle_store4<aligned>(grad_b + first, grad);
        return;
    }
    for (size_t i = first; i < (size_t)n; i++) {
        if (grad_a)
            grad_a[i] = grad_output[i];
        if (grad_b)
            grad_b[i] = grad_output[i];
    }
}

template <bool aligned>
__global__ void multiply_backward_float4(int n, const float *a, const float *b, const float *grad_output, float *grad_a,
                                         float *grad_b)
{
    size_t first = first_element();
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 grad = heddle_load4<aligned>(grad_output + first);
        if (grad_a)
            heddle_store4<aligned>(grad_a + first, grad * heddle_load4<aligned>(b + first));
        if (grad_b)
            heddle_store4<aligned>(grad_b + first, grad * heddle_load4<aligned>(a + first));
        return;
    }
    for (size_t i = first; i < (size_t)n; i++) {
        if (grad_a)
            grad_a[i] = grad_output[i] * b[i];
        if (grad_b)
            grad_b[i] = grad_output[i] * a[i];
    }
}

// The call's operands, unpacked, and the grid for them.
typedef struct vector_call {
    int n;
    unsigned blocks;
    const float *input[3];
    float *output[2];
    bool aligned;
    cudaStream_t stream;
} vector_call;

static vector_call unpack(const heddle_call *call, int inputs, int outputs)
{
    vector_call unpacked = {};
    unpacked.n = ((const heddle_elements_shape *)call->shape)->n;
    unpacked.blocks = heddle_cuda_blocks(heddle_ceil_div(unpacked.n, HEDDLE_VECTOR));
    unpacked.stream = heddle_cuda_stream_of(call);
    unpacked.aligned = true;
    for (int i = 0; i < inputs; i++) {
        unpacked.input[i] = (const float *)call->input[i];
        unpacked.aligned = unpacked.aligned && heddle_aligned16(unpacked.input[i]);
    }
    for (int i = 0; i < outputs; i++) {
        unpacked.output[i] = (float *)call->output[i];
        unpacked.aligned = unpacked.aligned && heddle_aligned16(unpacked.output[i]);
    }
    return unpacked;
}

static heddle_status launch_add_forward(const heddle_call *call)
{
    vector_call c = unpack(call, 2, 1);
    if (c.blocks > 0)
        (c.aligned ? add_forward_float4<true>
                   : add_forward_float4<false>)<<<c.blocks, HEDDLE_CUDA_BLOCK, 0, c.stream>>>(c.n, c.input[0],
                                                                                              c.input[1], c.output[0]);
    return heddle_cuda_launched("05_float4");
}

static heddle_status launch_multiply_forward(const heddle_call *call)
{
    vector_call c = unpack(call, 2, 1);
    if (c.blocks > 0)
        (c.aligned ? multiply_forward_float4<true>
                   : multiply_forward_float4<false>)<<<c.blocks, HEDDLE_CUDA_BLOCK, 0, c.stream>>>(
            c.n, c.input[0], c.input[1], c.output[0]);
    return heddle_cuda_launched("05_float4");
}

static heddle_status launch_add_backward(const heddle_call *call)
{
    vector_call c = unpack(call, 1, 2);
    if (c.blocks > 0)
        (c.aligned ? add_backward_float4<true>
                   : add_backward_float4<false>)<<<c.blocks, HEDDLE_CUDA_BLOCK, 0, c.stream>>>(
            c.n, c.input[0], c.output[0], c.output[1]);
    return heddle_cuda_launched("05_float4");
}

static heddle_status launch_multiply_backward(const heddle_call *call)
{
    vector_call c = unpack(call, 3, 2);
    if (c.blocks > 0)
        (c.aligned ? multiply_backward_float4<true>
                   : multiply_backward_float4<false>)<<<c.blocks, HEDDLE_CUDA_BLOCK, 0, c.stream>>>(
            c.n, c.input[0], c.input[1], c.input[2], c.output[0], c.output[1]);
    return heddle_cuda_launched("05_float4");
}

HEDDLE_CUDA_RUNG("add_forward", "05_float4", launch_add_forward)
HEDDLE_CUDA_RUNG("add_backward", "05_float4", launch_add_backward)
HEDDLE_CUDA_RUNG("multiply_forward", "05_float4", launch_multiply_forward)
HEDDLE_CUDA_RUNG("multiply_backward", "05_float4", launch_multiply_backward)
