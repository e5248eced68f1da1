// matmul_int4, rung 1: one thread per element of the output.
//
// Limited by: loads. Neighbouring threads read bytes of different rows of weights, far apart, and each byte is read
// again for every weight in it. A scale and a zero point are loaded for each of them, too.

#include <cuda_fp16.h>

#include "ops/cuda/rung.h"
#include "ops/matmul_int4/weights.h"

// input: (m, k), weight: (n, chunks of 16 bytes), scale and zero: (n, groups), output: (m, n)
__global__ void matmul_int4_naive(heddle_matmul_int4_shape shape, const __half *input, const unsigned char *weight,
                                  const __half *scale, const unsigned char *zero, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    size_t i = at / shape.n, j = at % shape.n;
    const __half *row = input + i * shape.k;
    const unsigned char *weights = weight + j * heddle_int4_row_bytes(shape.k);
    float sum = 0;
    for (int p = 0; p < shape.k; p++) {
        size_t group = j * heddle_int4_groups(&shape) + p / shape.group;
        int number = heddle_int4_weight(weights, p) - zero[group];
        sum += __half2float(row[p]) * (__half2float(scale[group]) * (float)number);
    }
    output[at] = sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int4_shape *shape = (const heddle_matmul_int4_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_int4_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const __half *)call->input[0], (const unsigned char *)call->input[1],
            (const __half *)call->input[2], (const unsigned char *)call->input[3], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("matmul_int4", "01_naive", launch)
