// matmul_bf16, rung 1: one thread per element of the result; the thread computes its whole sum in float32.
//
// Neighbouring threads compute neighbouring columns, so that the loads of b and the stores are coalesced if b is stored
// (k, n).
//
// Limited by: two loads from global memory per multiplication. Each row of a is read n times, each column of b m times.

#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Element (row, column) of op(matrix); its stored rows are `leading` long.
__device__ static float element(const __nv_bfloat16 *matrix, int transposed, int leading, int row, int column)
{
    return __bfloat162float(transposed ? matrix[(size_t)column * leading + row]
                                       : matrix[(size_t)row * leading + column]);
}

// op(a): (m, k), op(b): (k, n), output: (m, n). Sum: the type of the sum; Output: the type of the output.
template <typename Sum, typename Output>
__global__ void matmul_bf16_naive(heddle_matmul_shape shape, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                  Output *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    int i = (int)(at / shape.n), j = (int)(at % shape.n);
    int leading_a = shape.transpose_a ? shape.m : shape.k, leading_b = shape.transpose_b ? shape.k : shape.n;
    Sum sum = 0;
    for (int p = 0; p < shape.k; p++)
        sum += (Sum)element(a, shape.transpose_a, leading_a, i, p) * element(b, shape.transpose_b, leading_b, p, j);
    sum *= shape.alpha;
    if (shape.beta != 0.0f)
        sum += shape.beta * (Sum)output[at];
    output[at] = (Output)sum;
}

template <typename Sum, typename Output> static heddle_status launch_with(const heddle_call *call, const char *name)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_bf16_naive<Sum, Output><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const __nv_bfloat16 *)call->input[0], (const __nv_bfloat16 *)call->input[1],
            (Output *)call->output[0]);
    return heddle_cuda_launched(name);
}

static heddle_status launch(const heddle_call *call)
{
    return launch_with<float, __nv_bfloat16>(call, "01_naive");
}

static heddle_status launch_reference(const heddle_call *call)
{
    return launch_with<double, double>(call, "reference");
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "01_naive", launch)
HEDDLE_CUDA_REFERENCE("matmul_bf16_forward", launch_reference)
