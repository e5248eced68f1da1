// matmul_batched, rung 1: one thread per element of all outputs.
//
// Limited by: two loads per multiplication. Neighbouring threads compute neighbouring columns, so that loads of b and
// stores are coalesced if b is stored (k, n).

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// a: (batch, m, k), b: (batch, k, n), output: (batch, m, n)
__global__ void matmul_batched_naive(heddle_matmul_batched_shape shape, const float *a, const float *b, float *output)
{
    size_t m = shape.m, n = shape.n, k = shape.k, at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= shape.batch * m * n)
        return;
    size_t product = at / (m * n), row = at / n % m, column = at % n;
    a += product * m * k;
    b += product * k * n;
    float sum = 0;
    for (size_t p = 0; p < k; p++)
        sum +=
            a[shape.transpose_a ? p * m + row : row * k + p] * b[shape.transpose_b ? column * k + p : p * n + column];
    output[at] = shape.beta == 0.0f ? shape.alpha * sum : shape.alpha * sum + shape.beta * output[at];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_batched_shape *shape = (const heddle_matmul_batched_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->batch * shape->m * shape->n);
    if (blocks > 0)
        matmul_batched_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("matmul_batched_forward", "01_naive", launch)
