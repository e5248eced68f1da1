// fft, rfft and fft2d, the first rung: each number of the result is its defining sum. The roots come from a table; that
// is the only optimisation.
//
// Limited by: n products for each of n numbers.

#include "ops/define.h"
#include "ops/fft/cpu_stages.h"
#include "ops/fft/operators.h"

// output[k] = scale * Σ input[q] exp(∓2πi q k / n); numbers `stride` apart in both.
static void line_of(int n, bool inverse, float scale, const float *input, float *output, size_t stride,
                    const float *roots)
{
    float sign = inverse ? -1 : 1;
    for (size_t k = 0; k < (size_t)n; k++) {
        float real = 0, imaginary = 0;
        for (size_t q = 0; q < (size_t)n; q++) {
            const float *x = input + 2 * q * stride, *root = roots + 2 * (q * k % (size_t)n);
            real += x[0] * root[0] - x[1] * sign * root[1];
            imaginary += x[0] * sign * root[1] + x[1] * root[0];
        }
        output[2 * k * stride] = scale * real;
        output[2 * k * stride + 1] = scale * imaginary;
    }
}

heddle_status heddle_fft_cpu_dft(const heddle_call *call)
{
    const heddle_fft_shape *shape = call->shape;
    float *roots = call->workspace;
    heddle_fft_cpu_roots(roots, shape->n, shape->n);
    for (size_t b = 0; b < (size_t)shape->batch; b++)
        line_of(shape->n, shape->inverse, shape->scale, (const float *)call->input[0] + 2 * b * shape->n,
                (float *)call->output[0] + 2 * b * shape->n, 1, roots);
    return HEDDLE_OK;
}

HEDDLE_SHARED_WORKSPACE(heddle_fft_cpu_dft_workspace, heddle_fft_shape, 2 * sizeof(float) * (size_t)shape->n)

static void forward_line(const heddle_fft_shape *shape, const float *input, float *output, const float *roots)
{
    size_t n = (size_t)shape->n;
    for (size_t k = 0; k <= n / 2; k++) {
        float real = 0, imaginary = 0;
        for (size_t q = 0; q < n; q++) {
            real += input[q] * roots[2 * (q * k % n)];
            imaginary += input[q] * roots[2 * (q * k % n) + 1];
        }
        output[2 * k] = shape->scale * real;
        output[2 * k + 1] = shape->scale * imaginary;
    }
}

// Numbers 1 to (n - 1) / 2 count twice: the other half are their conjugates, and the sum of the two is twice the real
// part.
static void inverse_line(const heddle_fft_shape *shape, const float *input, float *output, const float *roots)
{
    size_t n = (size_t)shape->n;
    for (size_t q = 0; q < n; q++) {
        float sum = input[0];
        for (size_t k = 1; k <= n / 2; k++) {
            const float *root = roots + 2 * (q * k % n);
            sum += 2 * k == n ? input[2 * k] * root[0] : 2 * (input[2 * k] * root[0] + input[2 * k + 1] * root[1]);
        }
        output[q] = shape->scale * sum;
    }
}

heddle_status heddle_rfft_cpu_dft(const heddle_call *call)
{
    const heddle_fft_shape *shape = call->shape;
    const float *input = call->input[0];
    float *roots = call->workspace, *output = call->output[0];
    size_t n = (size_t)shape->n, half = 2 * (n / 2 + 1);
    heddle_fft_cpu_roots(roots, shape->n, shape->n);
    for (size_t b = 0; b < (size_t)shape->batch; b++) {
        if (shape->inverse)
            inverse_line(shape, input + b * half, output + b * n, roots);
        else
            forward_line(shape, input + b * n, output + b * half, roots);
    }
    return HEDDLE_OK;
}

// Rows into the workspace, columns from there.
heddle_status heddle_fft2d_cpu_dft(const heddle_call *call)
{
    const heddle_fft2d_shape *shape = call->shape;
    size_t h = (size_t)shape->h, w = (size_t)shape->w, rows = (size_t)shape->batch * h;
    float *middle = call->workspace, *roots = middle + 2 * rows * w;
    heddle_fft_cpu_roots(roots, shape->w, shape->w);
    for (size_t row = 0; row < rows; row++)
        line_of(shape->w, shape->inverse, shape->scale, (const float *)call->input[0] + 2 * row * w,
                middle + 2 * row * w, 1, roots);
    heddle_fft_cpu_roots(roots, shape->h, shape->h);
    for (size_t b = 0; b < (size_t)shape->batch; b++)
        for (size_t column = 0; column < w; column++) {
            size_t at = 2 * (b * h * w + column);
            line_of(shape->h, shape->inverse, 1, middle + at, (float *)call->output[0] + at, w, roots);
        }
    return HEDDLE_OK;
}

size_t heddle_fft2d_cpu_dft_workspace(const void *shape_, int threads)
{
    const heddle_fft2d_shape *shape = shape_;
    size_t h = (size_t)shape->h, w = (size_t)shape->w;
    (void)threads;
    return 2 * sizeof(float) * ((size_t)shape->batch * h * w + (h > w ? h : w));
}
