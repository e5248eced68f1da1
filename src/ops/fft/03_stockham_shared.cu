// fft, rung 3: one block per line, kept in shared memory through all stages. The rung before took log2 n passes through
// memory; this one reads and writes every number once.
//
// Limited by: the barriers between log2 n stages, and shared memory: a stage moves 16 bytes in and 16 out for one
// product and two sums, and the first stages write with strides that cause bank conflicts.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/butterflies.h"
#include "ops/fft/roots.h"

// input, output: (batch, n) complex, n a power of two. Shared: twice n numbers, used alternately.
__global__ void stockham_shared(heddle_fft_shape shape, const float *input, float *output)
{
    extern __shared__ float2 stockham_numbers[];
    int n = shape.n, half = n / 2;
    float2 *x = stockham_numbers, *y = stockham_numbers + n;
    float sign = shape.inverse ? -1.0f : 1.0f;
    input += 2 * (size_t)blockIdx.x * n;
    output += 2 * (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = make_float2(input[2 * i], sign * input[2 * i + 1]);
    __syncthreads();
    for (int before = 1; before < n; before *= 2) {
        float two_over_modulus = 1.0f / before;
        for (int j = threadIdx.x; j < half; j += blockDim.x) {
            int p = j % before;
            float2 a = x[j], b = complex_multiply(x[j + half], fft_root_of_power(p, two_over_modulus));
            y[2 * j - p] = complex_add(a, b);
            y[2 * j - p + before] = complex_subtract(a, b);
        }
        __syncthreads();
        float2 *other = x;
        x = y;
        y = other;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        output[2 * i] = shape.scale * x[i].x;
        output[2 * i + 1] = shape.scale * sign * x[i].y;
    }
}

static heddle_status launch(const heddle_call *call)
{
    enum { LONGEST_BYTES = 2 * 4096 * sizeof(float2) };
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int threads = shape->n / 2 < HEDDLE_CUDA_BLOCK ? (shape->n / 2 > 32 ? shape->n / 2 : 32) : HEDDLE_CUDA_BLOCK;
    cudaFuncSetAttribute(stockham_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, LONGEST_BYTES);
    if (shape->batch > 0)
        stockham_shared<<<shape->batch, threads, 2 * shape->n * sizeof(float2), stream>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("03_stockham_shared");
}

HEDDLE_CUDA_RUNG("fft", "03_stockham_shared", launch)
