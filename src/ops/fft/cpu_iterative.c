// fft, third rung: the recursion's leaves first. Numbers are moved to where the recursion would have taken them from:
// the place with the bits of the index reversed. Then every level is one loop over the line, in place. Lines are spread
// over the threads.
//
// Limited by: strides that double from level to level, so that neighbouring products are not neighbouring numbers on
// the first levels, and log2 n passes over a line that may not fit in the cache.

#include "base/threads.h"
#include "ops/define.h"
#include "ops/fft/cpu_stages.h"
#include "ops/fft/operators.h"

static void reverse_bits(int n, float scale, const float *input, float *output)
{
    for (int i = 0, reversed = 0; i < n; i++) {
        output[2 * reversed] = scale * input[2 * i];
        output[2 * reversed + 1] = scale * input[2 * i + 1];
        int bit = n / 2; // adds one from the other end
        for (; bit > 0 && (reversed & bit); bit /= 2)
            reversed ^= bit;
        reversed |= bit;
    }
}

static void transform(int n, float *x, const float *roots, float sign)
{
    for (int half = 1; half < n; half *= 2)
        for (int start = 0; start < n; start += 2 * half)
            for (int k = 0; k < half; k++) {
                float *even = x + 2 * (start + k), *odd = even + 2 * half;
                const float *root = roots + 2 * (size_t)k * (size_t)(n / half / 2);
                float c = root[0], s = sign * root[1];
                float real = c * odd[0] - s * odd[1], imaginary = c * odd[1] + s * odd[0];
                odd[0] = even[0] - real;
                odd[1] = even[1] - imaginary;
                even[0] += real;
                even[1] += imaginary;
            }
}

static void run_line(void *context, int index, int worker)
{
    const heddle_call *call = context;
    const heddle_fft_shape *shape = call->shape;
    size_t at = 2 * (size_t)shape->n * (size_t)index;
    float *output = (float *)call->output[0] + at;
    (void)worker;
    reverse_bits(shape->n, shape->scale, (const float *)call->input[0] + at, output);
    transform(shape->n, output, call->workspace, shape->inverse ? -1 : 1);
}

heddle_status heddle_fft_cpu_iterative(const heddle_call *call)
{
    const heddle_fft_shape *shape = call->shape;
    heddle_fft_cpu_roots(call->workspace, shape->n, shape->n);
    heddle_pool_run(call->pool, shape->batch, run_line, (void *)call);
    return HEDDLE_OK;
}

HEDDLE_SHARED_WORKSPACE(heddle_fft_cpu_iterative_workspace, heddle_fft_shape, 2 * sizeof(float) * (size_t)shape->n)
