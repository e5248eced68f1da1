// matmul_fp8, rung 1: one thread per element of the result; the thread computes its whole sum in float32.
//
// An e4m3 number is one byte. It is converted to float32, which holds it and the product of two exactly: only sums are
// rounded.
//
// Limited by: loads. Each multiplication takes two requests of one byte per lane, and neighbouring threads read bytes
// of different rows of b. Two conversions per multiplication come next.

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// a: (m, k), b: (n, k), output: (m, n). Sum: the type of the sum; Output: the type of the output.
template <typename Sum, typename Output>
__global__ void matmul_fp8_naive(heddle_matmul_fp8_shape shape, const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b,
                                 const float *scale_a, const float *scale_b, Output *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    size_t i = at / shape.n, j = at % shape.n;
    Sum sum = 0;
    for (int p = 0; p < shape.k; p++)
        sum += (Sum)((float)a[i * shape.k + p] * (float)b[j * shape.k + p]);
    output[at] = (Output)((Sum)*scale_a * (Sum)*scale_b * sum);
}

template <typename Sum, typename Output> static heddle_status launch_with(const heddle_call *call, const char *name)
{
    const heddle_matmul_fp8_shape *shape = (const heddle_matmul_fp8_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_fp8_naive<Sum, Output><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const __nv_fp8_e4m3 *)call->input[0], (const __nv_fp8_e4m3 *)call->input[1],
            (const float *)call->input[2], (const float *)call->input[3], (Output *)call->output[0]);
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

HEDDLE_CUDA_RUNG("matmul_fp8", "01_naive", launch)
HEDDLE_CUDA_REFERENCE("matmul_fp8", launch_reference)
