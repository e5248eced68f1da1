// fft, rung 2: Stockham's algorithm, one kernel per stage and one thread per butterfly of two numbers. The naive rung
// does n products per number; here there are log2 n stages of one half.
//
// Limited by: memory bandwidth. Every stage reads and writes all numbers: log2 n passes through memory instead of one.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/butterflies.h"
#include "ops/fft/roots.h"

// Lines of n numbers; earlier stages of this radix have made transforms of `before` numbers each.
__global__ void radix2_stage(size_t butterflies, int n, int before, float input_sign, float scale, float output_sign,
                             const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= butterflies)
        return;
    size_t half = n / 2, line = at / half * n;
    int j = (int)(at % half), p = j % before;
    const float *first = input + 2 * (line + j), *second = first + 2 * half;
    float *to = output + 2 * (line + 2 * j - p);
    float2 a = make_float2(first[0], input_sign * first[1]), b = make_float2(second[0], input_sign * second[1]);
    b = complex_multiply(b, fft_root(p, 2 * before));
    float2 sum = complex_add(a, b), difference = complex_subtract(a, b);
    to[0] = scale * sum.x;
    to[1] = scale * output_sign * sum.y;
    to[2 * before] = scale * difference.x;
    to[2 * before + 1] = scale * output_sign * difference.y;
}

__global__ void scale_only(size_t floats, float scale, const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < floats)
        output[at] = scale * input[at];
}

// Stages alternate between the workspace and the output; the last one writes the output. An inverse transform is the
// conjugate of the conjugate's transform.
static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    size_t butterflies = (size_t)shape->batch * (shape->n / 2);
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0], *workspace = (float *)call->workspace;
    float sign = shape->inverse ? -1.0f : 1.0f;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->batch == 0)
        return HEDDLE_OK;
    if (shape->n == 1)
        scale_only<<<heddle_cuda_blocks(2 * (size_t)shape->batch), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            2 * (size_t)shape->batch, shape->scale, input, output);
    int stages = 0;
    for (int n = shape->n; n > 1; n /= 2)
        stages++;
    for (int stage = 0; stage < stages; stage++) {
        bool last = stage == stages - 1;
        float *to = (stages - 1 - stage) % 2 == 0 ? output : workspace;
        radix2_stage<<<heddle_cuda_blocks(butterflies), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            butterflies, shape->n, 1 << stage, stage == 0 ? sign : 1.0f, last ? shape->scale : 1.0f, last ? sign : 1.0f,
            input, to);
        input = to;
    }
    return heddle_cuda_launched("02_radix2_global");
}

HEDDLE_CUDA_RUNG("fft", "02_radix2_global", launch)
