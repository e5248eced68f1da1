// fft, rfft and fft2d, rung 1: one thread per number of the result computes its defining sum.
//
// Limited by: n products per number, and one sine and one cosine per product.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/butterflies.h"
#include "ops/fft/roots.h"

// input, output: lines of n complex numbers. Element k of line l is at (l / inner) * n * inner + l % inner + k * inner:
// rows if inner is 1, else columns of images of `inner` columns.
__global__ void dft_lines(int n, size_t lines, int inner, float sign, float scale, const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= lines * n)
        return;
    size_t k = at / inner % n, start = at - k * inner;
    float2 sum = make_float2(0, 0);
    for (size_t q = 0; q < n; q++) {
        const float *x = input + 2 * (start + q * inner);
        float2 root = fft_root((unsigned)(q * k % n), n);
        sum = complex_add(sum, complex_multiply(make_float2(x[0], x[1]), make_float2(root.x, sign * root.y)));
    }
    output[2 * at] = scale * sum.x;
    output[2 * at + 1] = scale * sum.y;
}

// input: (batch, n), output: (batch, n / 2 + 1) complex
__global__ void dft_to_half(heddle_fft_shape shape, const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = shape.n, half = n / 2 + 1;
    if (at >= shape.batch * half)
        return;
    const float *x = input + at / half * n;
    float2 sum = make_float2(0, 0);
    for (size_t q = 0; q < n; q++) {
        float2 root = fft_root((unsigned)(q * (at % half) % n), shape.n);
        sum = complex_add(sum, make_float2(x[q] * root.x, x[q] * root.y));
    }
    output[2 * at] = shape.scale * sum.x;
    output[2 * at + 1] = shape.scale * sum.y;
}

// input: (batch, n / 2 + 1) complex, output: (batch, n). Numbers count twice, with their conjugates, unless they are
// their own mirror images.
__global__ void dft_of_half(heddle_fft_shape shape, const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = shape.n;
    if (at >= shape.batch * n)
        return;
    const float *x = input + 2 * (at / n * (n / 2 + 1));
    float sum = x[0];
    for (size_t k = 1; k <= n / 2; k++) {
        float2 root = fft_root((unsigned)(at % n * k % n), shape.n);
        sum += 2 * k == n ? x[2 * k] * root.x : 2 * (x[2 * k] * root.x + x[2 * k + 1] * root.y);
    }
    output[at] = shape.scale * sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->batch * shape->n);
    if (blocks > 0)
        dft_lines<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->batch, 1, shape->inverse ? -1.0f : 1.0f, shape->scale, (const float *)call->input[0],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive_dft");
}

static heddle_status launch_real(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks((size_t)shape->batch * (shape->inverse ? shape->n : shape->n / 2 + 1));
    if (blocks > 0 && shape->inverse)
        dft_of_half<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(*shape, input, output);
    else if (blocks > 0)
        dft_to_half<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(*shape, input, output);
    return heddle_cuda_launched("01_naive_dft");
}

static heddle_status launch_2d(const heddle_call *call)
{
    const heddle_fft2d_shape *shape = (const heddle_fft2d_shape *)call->shape;
    size_t rows = (size_t)shape->batch * shape->h, columns = (size_t)shape->batch * shape->w;
    float sign = shape->inverse ? -1.0f : 1.0f, *middle = (float *)call->workspace;
    unsigned blocks = heddle_cuda_blocks(rows * shape->w);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (blocks > 0) {
        dft_lines<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->w, rows, 1, sign, shape->scale,
                                                            (const float *)call->input[0], middle);
        dft_lines<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->h, columns, shape->w, sign, 1, middle,
                                                            (float *)call->output[0]);
    }
    return heddle_cuda_launched("01_naive_dft");
}

HEDDLE_CUDA_RUNG("fft", "01_naive_dft", launch)
HEDDLE_CUDA_RUNG("rfft", "01_naive_dft", launch_real)
HEDDLE_CUDA_RUNG("fft2d", "01_naive_dft", launch_2d)
