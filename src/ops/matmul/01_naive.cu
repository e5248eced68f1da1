// matmul, rung 1: one thread per element of the result; the thread computes its whole sum.
//
// Forward, elements are numbered down the columns: neighbouring threads compute neighbouring rows, as one writes it
// when thinking of rows first.
//
// Limited by: sectors. If nothing is transposed, the 32 lanes of a warp load from 32 rows of a and store to 32 rows of
// the output: 32 sectors of 32 bytes for 4 bytes each. Every multiplication also needs two loads.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Element (row, column) of op(matrix); its stored rows are `leading` long.
__device__ static float element(const float *matrix, int transposed, int leading, int row, int column)
{
    return transposed ? matrix[(size_t)column * leading + row] : matrix[(size_t)row * leading + column];
}

// op(a): (m, k), op(b): (k, n), output: (m, n)
__global__ void matmul_forward(heddle_matmul_shape shape, const float *a, const float *b, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    int i = (int)(at % shape.m), j = (int)(at / shape.m);
    int leading_a = shape.transpose_a ? shape.m : shape.k, leading_b = shape.transpose_b ? shape.k : shape.n;
    float sum = 0;
    for (int p = 0; p < shape.k; p++)
        sum += element(a, shape.transpose_a, leading_a, i, p) * element(b, shape.transpose_b, leading_b, p, j);
    float *to = output + (size_t)i * shape.n + j;
    *to = shape.beta == 0.0f ? shape.alpha * sum : shape.alpha * sum + shape.beta * *to;
}

// grad of op(a) (m, k) = alpha * grad_output (m, n) * op(b)ᵀ (n, k)
__global__ void matmul_grad_a(heddle_matmul_shape shape, const float *b, const float *grad_output, float *grad_a)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.k)
        return;
    int i = (int)(at / shape.k), p = (int)(at % shape.k), leading_b = shape.transpose_b ? shape.k : shape.n;
    float sum = 0;
    for (int j = 0; j < shape.n; j++)
        sum += grad_output[(size_t)i * shape.n + j] * element(b, shape.transpose_b, leading_b, p, j);
    grad_a[shape.transpose_a ? (size_t)p * shape.m + i : at] = shape.alpha * sum;
}

// grad of op(b) (k, n) = alpha * op(a)ᵀ (k, m) * grad_output (m, n)
__global__ void matmul_grad_b(heddle_matmul_shape shape, const float *a, const float *grad_output, float *grad_b)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.k * shape.n)
        return;
    int p = (int)(at / shape.n), j = (int)(at % shape.n), leading_a = shape.transpose_a ? shape.m : shape.k;
    float sum = 0;
    for (int i = 0; i < shape.m; i++)
        sum += element(a, shape.transpose_a, leading_a, i, p) * grad_output[(size_t)i * shape.n + j];
    grad_b[shape.transpose_b ? (size_t)j * shape.k + p : at] = shape.alpha * sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const float *a = (const float *)call->input[0], *b = (const float *)call->input[1];
    const float *grad_output = (const float *)call->input[2];
    float *grad_a = (float *)call->output[0], *grad_b = (float *)call->output[1];
    unsigned blocks_a = heddle_cuda_blocks((size_t)shape->m * shape->k);
    unsigned blocks_b = heddle_cuda_blocks((size_t)shape->k * shape->n);
    if (grad_a && blocks_a > 0)
        matmul_grad_a<<<blocks_a, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(*shape, b, grad_output, grad_a);
    if (grad_b && blocks_b > 0)
        matmul_grad_b<<<blocks_b, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(*shape, a, grad_output, grad_b);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("matmul_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("matmul_backward", "01_naive", launch_backward)
