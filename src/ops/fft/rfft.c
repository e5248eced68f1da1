// rfft: lines of real numbers to the half of their Fourier transforms that is not a mirror image, and back. Its cost,
// reference and ladder.

#include <stdlib.h>

#include "heddle/random.h"
#include "ops/define.h"
#include "ops/fft/operators.h"
#include "ops/fft/tables.h"

HEDDLE_DIMS(dims_real, heddle_fft_shape, shape->batch, shape->n)
HEDDLE_DIMS(dims_half, heddle_fft_shape, shape->batch, shape->n / 2 + 1, 2)

static int dims_input(const void *shape, int dims[HEDDLE_MAX_DIMS])
{
    return ((const heddle_fft_shape *)shape)->inverse ? dims_half(shape, dims) : dims_real(shape, dims);
}

static int dims_output(const void *shape, int dims[HEDDLE_MAX_DIMS])
{
    return ((const heddle_fft_shape *)shape)->inverse ? dims_real(shape, dims) : dims_half(shape, dims);
}

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_OWN, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output)},
};

static bool must_be_real(const heddle_fft_shape *shape, size_t k)
{
    return k == 0 || 2 * k == (size_t)shape->n;
}

// Normal. An inverse reads half of a valid transform: elements that are their own mirror image are real.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const heddle_fft_shape *shape = shape_;
    heddle_random random = heddle_random_make(seed, (uint64_t)operand);
    size_t half = (size_t)shape->n / 2 + 1;
    size_t floats = (size_t)shape->batch * (shape->inverse ? 2 * half : (size_t)shape->n);
    for (size_t i = 0; i < floats; i++) {
        values[i] = heddle_random_normal(&random);
        if (shape->inverse && i % 2 == 1 && must_be_real(shape, i / 2 % half))
            values[i] = 0;
    }
}

HEDDLE_COST(cost, operands, heddle_fft_shape, heddle_fft_flops(shape->batch, shape->n) / 2)

// A line of complex numbers; the real parts come from `input` if it has nothing else.
static void reference_forward(const heddle_fft_shape *shape, const double *input, double *output, double *line)
{
    heddle_fft_lines rows = {1, shape->n, 0, 1, shape->n};
    for (int q = 0; q < shape->n; q++) {
        line[2 * q] = input[q];
        line[2 * q + 1] = 0;
    }
    heddle_fft_reference(shape->n, 0, shape->scale, line, line, 1, &rows);
    for (int i = 0; i < 2 * (shape->n / 2 + 1); i++)
        output[i] = line[i];
}

static void reference_inverse(const heddle_fft_shape *shape, const double *input, double *output, double *line)
{
    heddle_fft_lines rows = {1, shape->n, 0, 1, shape->n};
    for (int k = 0; k <= shape->n / 2; k++) {
        int mirror = (shape->n - k) % shape->n;
        double imaginary = must_be_real(shape, (size_t)k) ? 0 : input[2 * k + 1];
        line[2 * mirror] = line[2 * k] = input[2 * k];
        line[2 * mirror + 1] = -imaginary;
        line[2 * k + 1] = imaginary;
    }
    heddle_fft_reference(shape->n, 1, shape->scale, line, line, 1, &rows);
    for (int q = 0; q < shape->n; q++)
        output[q] = line[2 * q];
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_fft_shape *shape = shape_;
    size_t half = 2 * ((size_t)shape->n / 2 + 1), n = (size_t)shape->n;
    double *line = calloc(2 * n, sizeof *line);
    for (size_t b = 0; b < (size_t)shape->batch; b++) {
        if (!line)
            output[0][b] = NAN; // out of memory: nothing may pass
        else if (shape->inverse)
            reference_inverse(shape, input[0] + b * half, output[0] + b * n, line);
        else
            reference_forward(shape, input[0] + b * n, output[0] + b * half, line);
    }
    free(line);
}

static size_t cuda_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_fft_job job = heddle_rfft_job_of(shape, NULL, NULL);
    return heddle_fft_cuda_workspace(&job);
}

static size_t half_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_fft_job job = heddle_rfft_job_of(shape, NULL, NULL);
    return heddle_fft_cuda_half_workspace(&job);
}

HEDDLE_OF_SHAPE(bool, fits_cpu, heddle_fft_shape, heddle_fft_cpu_takes(HEDDLE_FFT_TO_HALF, shape->n))
HEDDLE_OF_SHAPE(bool, has_even_length, heddle_fft_shape, shape->n % 2 == 0 && shape->n <= HEDDLE_FFT_LONGEST_ROUGH)
HEDDLE_OF_SHAPE(bool, is_fused, heddle_fft_shape, !shape->inverse && heddle_fft_is_fused(HEDDLE_FFT_TO_HALF, shape->n))
HEDDLE_OF_SHAPE(bool, is_possible, heddle_fft_shape, shape->n <= HEDDLE_FFT_LONGEST_ROUGH)

static size_t complex_workspace(const void *shape_, int threads)
{
    const heddle_fft_shape *shape = shape_;
    (void)threads;
    heddle_fft_job job = heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->n, shape->batch, false, NULL, NULL);
    return 2 * sizeof(float) * (size_t)shape->batch * shape->n + 256 + heddle_fft_cuda_workspace(&job);
}

// Each in both directions: halves of a power of two, in registers and too short for them; mixed; odd; twice a prime;
// longer than a block holds, also in fused passes; enough lines for several per block.
static const char *const test_shapes[] = {"batch=0 n=6",
                                          "batch=3 n=1",
                                          "batch=3 n=1 inverse=1",
                                          "batch=5 n=2 scale=3",
                                          "batch=4 n=2 inverse=1",
                                          "batch=3 n=3",
                                          "batch=2 n=15 inverse=1 scale=0.5",
                                          "batch=7 n=16",
                                          "batch=3 n=24 inverse=1",
                                          "batch=37 n=12",
                                          "batch=2 n=62",
                                          "batch=2 n=74 inverse=1",
                                          "batch=13 n=128",
                                          "batch=9 n=256 inverse=1 scale=-1",
                                          "batch=1 n=1000",
                                          "batch=1 n=1024 inverse=1",
                                          "batch=2 n=2048",
                                          "batch=1 n=8192 inverse=1",
                                          "batch=1 n=16384",
                                          "batch=1 n=10500 inverse=1",
                                          "batch=2 n=32768",
                                          "batch=530 n=24",
                                          NULL};
static const char *const bench_shapes[] = {"batch=16384 n=2048", "batch=16384 n=2048 inverse=1", "batch=64 n=1048576",
                                           "batch=16384 n=1000", NULL};

static const heddle_rung ladder[] = {
    {"cpu_dft", HEDDLE_CPU, HEDDLE_NAIVE, heddle_rfft_cpu_dft, "the defining sum: n products per number",
     heddle_fft_is_short, heddle_fft_cpu_dft_workspace},
    {"cpu_lanes", HEDDLE_CPU, HEDDLE_TUNED, heddle_rfft_cpu_lanes,
     "pairs of reals as complex numbers, eight lines at once in vectors", fits_cpu, heddle_rfft_cpu_lanes_workspace},
#if HEDDLE_HAVE_FFTW
    {"cpu_fftw", HEDDLE_CPU, HEDDLE_VENDOR, heddle_rfft_cpu_fftw, "FFTW, one line at a time over the threads", NULL,
     NULL},
#endif
    {"01_naive_dft", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per number computes its defining sum",
     heddle_fft_is_short, NULL},
    {"02_as_complex", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "complex numbers with zero imaginary parts: twice the work",
     is_possible, complex_workspace},
    {"03_half_length", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "pairs of reals as complex numbers, separated before they are written", has_even_length, half_workspace},
    {"04_fused_passes", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "long lines: the last pass transforms columns and their mirror images, and separates them", is_fused,
     cuda_workspace},
    {"cufft", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuFFT, its plans cached: limited by memory bandwidth",
     heddle_fft_is_plain, NULL, .gpu_only = "cuFFT"},
};

const heddle_op heddle_op_rfft = {
    .name = "rfft",
    .ladder_name = "fft",
    .summary = "Fourier transforms of lines of real numbers, and back",
    .shape_size = sizeof(heddle_fft_shape),
    HEDDLE_FIELDS(heddle_fft_fields),
    HEDDLE_OPERANDS(operands),
    .validate = heddle_fft_validate,
    .cost = cost,
    .reference = reference,
    .reduction = heddle_fft_reduction,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
