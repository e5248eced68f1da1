// matmul_int8, rung 1: one thread per element of the result.
//
// Limited by: loads. Each multiplication takes two requests of one byte per lane.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// a: (m, k), b: (n, k), output: (m, n)
__global__ void matmul_int8_naive(heddle_matmul_int8_shape shape, const signed char *a, const signed char *b,
                                  const float *scale_a, const float *scale_b, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    int i = (int)(at / shape.n), j = (int)(at % shape.n);
    int sum = 0;
    for (int p = 0; p < shape.k; p++)
        sum += a[(size_t)i * shape.k + p] * b[(size_t)j * shape.k + p];
    output[at] = scale_a[i] * scale_b[j] * (float)sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = (const heddle_matmul_int8_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_int8_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const signed char *)call->input[0], (const signed char *)call->input[1],
            (const float *)call->input[2], (const float *)call->input[3], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("matmul_int8", "01_naive", launch)
