// fft, second rung: a transform of n is two of n / 2, of its even and its odd numbers, combined by n / 2 products with
// roots. And so on down to one number: log2 n products for each instead of n.
//
// Limited by: the calls themselves. Half of them transform two numbers.

#include "ops/define.h"
#include "ops/fft/cpu_stages.h"
#include "ops/fft/operators.h"

// Forward, of n numbers `stride` apart, into output[0 .. n). roots: of n * stride.
static void transform(int n, size_t stride, const float *input, float *output, const float *roots, float sign)
{
    if (n == 1) {
        output[0] = input[0];
        output[1] = input[1];
        return;
    }
    float *even = output, *odd = output + n;
    transform(n / 2, 2 * stride, input, even, roots, sign);
    transform(n / 2, 2 * stride, input + 2 * stride, odd, roots, sign);
    for (size_t k = 0; k < (size_t)n / 2; k++) {
        float c = roots[2 * stride * k], s = sign * roots[2 * stride * k + 1];
        float real = c * odd[2 * k] - s * odd[2 * k + 1], imaginary = c * odd[2 * k + 1] + s * odd[2 * k];
        odd[2 * k] = even[2 * k] - real;
        odd[2 * k + 1] = even[2 * k + 1] - imaginary;
        even[2 * k] += real;
        even[2 * k + 1] += imaginary;
    }
}

heddle_status heddle_fft_cpu_recursive(const heddle_call *call)
{
    const heddle_fft_shape *shape = call->shape;
    size_t line = 2 * (size_t)shape->n;
    float *roots = call->workspace;
    heddle_fft_cpu_roots(roots, shape->n, shape->n);
    for (size_t b = 0; b < (size_t)shape->batch; b++) {
        float *output = (float *)call->output[0] + b * line;
        transform(shape->n, 1, (const float *)call->input[0] + b * line, output, roots, shape->inverse ? -1 : 1);
        for (size_t i = 0; i < line; i++)
            output[i] *= shape->scale;
    }
    return HEDDLE_OK;
}

HEDDLE_SHARED_WORKSPACE(heddle_fft_cpu_recursive_workspace, heddle_fft_shape, 2 * sizeof(float) * (size_t)shape->n)
