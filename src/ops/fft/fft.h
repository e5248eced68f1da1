// fft, rfft and fft2d: their operators and CPU rungs, and many Fourier transforms at once for other operators. On a GPU
// the same job goes to launch.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/op.h"
#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_fft, heddle_op_rfft, heddle_op_fft2d;

// --- jobs: many transforms of one length ----------------------------------------------------------------------------

// What a job's lines are made of. Complex numbers are pairs of floats, the real part first.
typedef enum heddle_fft_kind {
    HEDDLE_FFT_COMPLEX, // n complex numbers to n complex numbers
    HEDDLE_FFT_TO_HALF, // n real numbers to the first n / 2 + 1 complex ones; the rest are their conjugates
    HEDDLE_FFT_OF_HALF, // back: n / 2 + 1 complex numbers to n real ones. The imaginary parts of element 0 and, if n is
                        // even, of element n / 2 count as zero
} heddle_fft_kind;

// Where lines lie. Element k of line l is at
//
//     (l / inner) * outer_stride + (l % inner) * inner_stride + k * stride
//
// counted in elements: complex numbers, or floats on the real side of a job. Rows of a matrix: {1, row, 0, 1, n}.
// Columns of one: {columns, 0, 1, row, n}; of many, one after another: {columns, matrix, 1, row, n}.
typedef struct heddle_fft_lines {
    int inner; // at least 1
    long long outer_stride, inner_stride, stride;
    int length; // elements that exist; the rest of a line is zero (input) or not written (output)
} heddle_fft_lines;

// output[line][k] = scale * Σ input[line][q] exp(∓2πi q k / n): minus for forward, plus for inverse. Neither divides by
// n: with scale 1 / n the inverse undoes the forward transform.
typedef struct heddle_fft_job {
    heddle_fft_kind kind;
    int n;           // length of a transform, at least 1
    long long lines; // how many
    bool inverse;    // for HEDDLE_FFT_COMPLEX; the names of the others give the direction
    float scale;
    const float *input;
    float *output; // not the input, unless every line has the same place in both
    heddle_fft_lines from, to;
} heddle_fft_job;

// A job whose lines lie one after another, with whole input and output; other settings can be changed afterwards.
static inline heddle_fft_job heddle_fft_rows(heddle_fft_kind kind, int n, long long lines, bool inverse,
                                             const float *input, float *output)
{
    heddle_fft_job job;
    int half = n / 2 + 1, input_length = kind == HEDDLE_FFT_OF_HALF ? half : n;
    int output_length = kind == HEDDLE_FFT_TO_HALF ? half : n;
    heddle_fft_lines from = {1, input_length, 0, 1, input_length}, to = {1, output_length, 0, 1, output_length};
    job.kind = kind;
    job.n = n;
    job.lines = lines;
    job.inverse = kind == HEDDLE_FFT_COMPLEX ? inverse : kind == HEDDLE_FFT_OF_HALF;
    job.scale = 1;
    job.input = input;
    job.output = output;
    job.from = from;
    job.to = to;
    return job;
}

// The job of a call of fft, and of rfft; their operands may be in host or device memory.
static inline heddle_fft_job heddle_fft_job_of(const heddle_fft_shape *shape, const void *input, void *output)
{
    heddle_fft_job job = heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->n, shape->batch, shape->inverse != 0,
                                         (const float *)input, (float *)output);
    job.scale = shape->scale;
    return job;
}

static inline heddle_fft_job heddle_rfft_job_of(const heddle_fft_shape *shape, const void *input, void *output)
{
    heddle_fft_job job = heddle_fft_rows(shape->inverse ? HEDDLE_FFT_OF_HALF : HEDDLE_FFT_TO_HALF, shape->n,
                                         shape->batch, false, (const float *)input, (float *)output);
    job.scale = shape->scale;
    return job;
}

// Whether n is a product of 2, 3, 5 and 7. Other lengths work as well, but need transforms of more than twice their
// length.
static inline bool heddle_fft_is_smooth(int n)
{
    for (int prime = 2; prime <= 7 && n > 0; prime++)
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

// The smallest such number that is n or more.
static inline int heddle_fft_smooth_from(int n)
{
    while (!heddle_fft_is_smooth(n))
        n++;
    return n;
}

static inline bool heddle_fft_is_power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

// --- on the CPU -----------------------------------------------------------------------------------------------------

// Runs a job over the pool's threads (NULL: this one), for every n that heddle_fft_cpu_takes. The workspace has
// heddle_fft_cpu_workspace bytes, 64-byte aligned, whichever operands it was computed with. The result has the same
// bits for any number of threads.
void heddle_fft_cpu(const heddle_fft_job *job, heddle_pool *pool, void *workspace);
size_t heddle_fft_cpu_workspace(const heddle_fft_job *job, int threads);
// Products of 2, 3, 5 and 7 of any size; other lengths as long as Bluestein's power of two, at least 2 n - 1, fits in
// an int.
bool heddle_fft_cpu_takes(heddle_fft_kind kind, int n);

// --- on a GPU: launch.h ---------------------------------------------------------------------------------------------

// Lengths that one kernel handles, reading and writing every number once: products of 2, 3, 5 and 7 up to this for
// complex numbers, and twice it for real ones if n is even. Lines of these may lie anywhere (columns are read eight at
// a time, 64 bytes together) and need no workspace. Other lengths need lines that lie one after another
// (heddle_fft_rows), whole, and a workspace; every n works.
enum {
    HEDDLE_FFT_ONE_KERNEL = 4096,
    HEDDLE_FFT_ONE_ROW = 8192, // one kernel handles this too, if a line's numbers are adjacent
};

static inline bool heddle_fft_is_one_kernel(heddle_fft_kind kind, int n)
{
    int length = kind == HEDDLE_FFT_COMPLEX ? n : n / 2;
    return (kind == HEDDLE_FFT_COMPLEX || n % 2 == 0) && length <= HEDDLE_FFT_ONE_KERNEL &&
           heddle_fft_is_smooth(length);
}

// Real lines of this length to half: n / 2 pairs need several passes, the last of which takes their results apart. The
// roots of up to 2^24 numbers can be counted in float.
static inline bool heddle_fft_is_fused(heddle_fft_kind kind, int n)
{
    return kind == HEDDLE_FFT_TO_HALF && heddle_fft_is_power_of_two(n) && n > 2 * HEDDLE_FFT_ONE_ROW && n <= 1 << 24;
}

// Bytes of workspace that a job needs there, aligned to 256.
size_t heddle_fft_cuda_workspace(const heddle_fft_job *job);
size_t heddle_fft_cuda_half_workspace(const heddle_fft_job *job); // where real lines are not fused with the last pass

#ifdef __cplusplus
}
#endif
