// matmul_int8's float64 reference as a kernel, for benchmark shapes that would take minutes on a CPU: one thread per
// element. A sum of bytes is exact in int32; only the scales are rounded.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// a: (m, k), b: (n, k), output: (m, n) in float64
__global__ void matmul_int8_reference(heddle_matmul_int8_shape shape, const signed char *a, const signed char *b,
                                      const float *scale_a, const float *scale_b, double *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    size_t i = at / shape.n, j = at % shape.n;
    int sum = 0;
    for (int p = 0; p < shape.k; p++)
        sum += a[i * shape.k + p] * b[j * shape.k + p];
    output[at] = (double)scale_a[i] * scale_b[j] * sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = (const heddle_matmul_int8_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_int8_reference<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const signed char *)call->input[0], (const signed char *)call->input[1],
            (const float *)call->input[2], (const float *)call->input[3], (double *)call->output[0]);
    return heddle_cuda_launched("reference");
}

HEDDLE_CUDA_REFERENCE("matmul_int8", launch)
