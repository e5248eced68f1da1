// fft: lines of complex numbers to their Fourier transforms and back. Its cost, reference and ladder.

#include "ops/fft/operators.h"

#include <math.h>

#include "ops/define.h"
#include "ops/fft/tables.h"

const heddle_field heddle_fft_fields[HEDDLE_FFT_FIELDS] = {
    {HEDDLE_REQUIRED_INT(heddle_fft_shape, batch, "transforms")},
    {HEDDLE_REQUIRED_INT(heddle_fft_shape, n, "numbers per line, at least 1")},
    {HEDDLE_OPTIONAL_INT(heddle_fft_shape, inverse, 0, "1: inverse, with the other sign in the exponent")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_fft_shape, scale, 1,
                           "factor of the result; with 1 / n the inverse undoes the forward transform")},
};

heddle_status heddle_fft_validate(const void *shape_)
{
    const heddle_fft_shape *shape = shape_;
    if (shape->n < 1)
        return heddle_fail(HEDDLE_INVALID, "fft: n is %d, but a transform has at least 1 number", shape->n);
    if (shape->inverse > 1)
        return heddle_fail(HEDDLE_INVALID, "fft: inverse is 0 or 1, not %d", shape->inverse);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_complex, heddle_fft_shape, shape->batch, shape->n, 2)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_complex)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_complex)},
};

HEDDLE_COST(cost, operands, heddle_fft_shape, heddle_fft_flops(shape->batch, shape->n))

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_fft_shape *shape = shape_;
    heddle_fft_lines rows = {1, shape->n, 0, 1, shape->n};
    heddle_fft_reference(shape->n, shape->inverse, shape->scale, input[0], output[0], (size_t)shape->batch, &rows);
}

int64_t heddle_fft_roundings(double naive, double numbers)
{
    double stages = ceil(log2(numbers));
    return (int64_t)(naive > 0 ? naive : stages * stages);
}

HEDDLE_SHARED_OF_SHAPE(int64_t, heddle_fft_reduction, heddle_fft_shape,
                       heddle_fft_roundings(shape->n <= HEDDLE_FFT_LONGEST_NAIVE ? shape->n : 0, shape->n))
HEDDLE_SHARED_OF_SHAPE(bool, heddle_fft_is_short, heddle_fft_shape, shape->n <= HEDDLE_FFT_LONGEST_NAIVE)
HEDDLE_SHARED_OF_SHAPE(bool, heddle_fft_is_plain, heddle_fft_shape, shape->scale == 1.0f)

static size_t cuda_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_fft_job job = heddle_fft_job_of(shape, NULL, NULL);
    return heddle_fft_cuda_workspace(&job);
}

HEDDLE_OF_SHAPE(bool, fits_cpu, heddle_fft_shape, heddle_fft_cpu_takes(HEDDLE_FFT_COMPLEX, shape->n))
HEDDLE_OF_SHAPE(bool, is_power_of_two, heddle_fft_shape, heddle_fft_is_power_of_two(shape->n))
HEDDLE_OF_SHAPE(bool, fits_a_block, heddle_fft_shape, is_power_of_two(shape) && shape->n <= HEDDLE_FFT_ONE_KERNEL)
HEDDLE_OF_SHAPE(bool, fits_registers, heddle_fft_shape, fits_a_block(shape) && shape->n >= HEDDLE_FFT_LEAST_REGISTERS)
HEDDLE_OF_SHAPE(bool, fits_wide_registers, heddle_fft_shape, fits_registers(shape) || shape->n == HEDDLE_FFT_ONE_ROW)
HEDDLE_OF_SHAPE(bool, needs_passes, heddle_fft_shape, is_power_of_two(shape) && shape->n > HEDDLE_FFT_ONE_ROW)

static bool is_mixed(const void *shape_)
{
    const heddle_fft_shape *shape = shape_;
    return heddle_fft_is_smooth(shape->n) && (!is_power_of_two(shape) || shape->n < HEDDLE_FFT_LEAST_REGISTERS);
}

HEDDLE_OF_SHAPE(bool, is_short_mixed, heddle_fft_shape, is_mixed(shape) && shape->n <= HEDDLE_FFT_ONE_KERNEL)

static bool is_rough(const void *shape_)
{
    const heddle_fft_shape *shape = shape_;
    return !heddle_fft_is_smooth(shape->n) && shape->n <= HEDDLE_FFT_LONGEST_ROUGH;
}

HEDDLE_WORKSPACE(radix2_workspace, heddle_fft_shape, 2 * sizeof(float) * (size_t)shape->batch * shape->n)

// Powers of two for every instance of 04 and 05, and lines that end within a block's; 16384 in two passes; mixed
// lengths of each radix, in one pass and in two, and enough of them for several lines per block; primes and a product
// of them.
static const char *const test_shapes[] = {"batch=0 n=8",
                                          "batch=3 n=1 scale=-2",
                                          "batch=5 n=2",
                                          "batch=4 n=3 inverse=1",
                                          "batch=2 n=9",
                                          "batch=2 n=375 inverse=1",
                                          "batch=1 n=588",
                                          "batch=1 n=756",
                                          "batch=1 n=2187",
                                          "batch=2 n=5",
                                          "batch=3 n=7 inverse=1 scale=0.5",
                                          "batch=37 n=8",
                                          "batch=5 n=12",
                                          "batch=2 n=15 inverse=1",
                                          "batch=9 n=16",
                                          "batch=2 n=31",
                                          "batch=11 n=32 inverse=1",
                                          "batch=33 n=64",
                                          "batch=3 n=97 inverse=1 scale=0.25",
                                          "batch=2 n=105",
                                          "batch=7 n=128 inverse=1",
                                          "batch=3 n=256",
                                          "batch=5 n=512 scale=2",
                                          "batch=1 n=1000",
                                          "batch=3 n=1024 inverse=1",
                                          "batch=1 n=2048",
                                          "batch=1 n=4096 inverse=1",
                                          "batch=2 n=8192",
                                          "batch=1 n=16384",
                                          "batch=1 n=10290 inverse=1",
                                          "batch=533 n=12",
                                          NULL};
// One that fits in a block, one that does not, a length that is not a power of two, and a prime.
static const char *const bench_shapes[] = {"batch=16384 n=1024", "batch=64 n=1048576", "batch=65536 n=256",
                                           "batch=4096 n=4096",  "batch=1024 n=16384", "batch=16384 n=1000",
                                           "batch=4096 n=1009",  "batch=1 n=16777216", NULL};

static const heddle_rung ladder[] = {
    {"cpu_dft", HEDDLE_CPU, HEDDLE_NAIVE, heddle_fft_cpu_dft, "the defining sum: n products per number",
     heddle_fft_is_short, heddle_fft_cpu_dft_workspace},
    {"cpu_recursive", HEDDLE_CPU, HEDDLE_TUNED, heddle_fft_cpu_recursive,
     "halves of halves: log2 n products per number, and a call for each", is_power_of_two,
     heddle_fft_cpu_recursive_workspace},
    {"cpu_iterative", HEDDLE_CPU, HEDDLE_TUNED, heddle_fft_cpu_iterative,
     "bits reversed first, then in place: strides that do not vectorise", is_power_of_two,
     heddle_fft_cpu_iterative_workspace},
    {"cpu_lanes", HEDDLE_CPU, HEDDLE_TUNED, heddle_fft_cpu_lanes,
     "eight lines at once in vectors, radices 2 to 7, Bluestein for the rest", fits_cpu,
     heddle_fft_cpu_lanes_workspace},
#if HEDDLE_HAVE_FFTW
    {"cpu_fftw", HEDDLE_CPU, HEDDLE_VENDOR, heddle_fft_cpu_fftw, "FFTW, one line at a time over the threads", NULL,
     NULL},
#endif
    {"01_naive_dft", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per number computes its defining sum",
     heddle_fft_is_short, NULL},
    {"02_radix2_global", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one kernel per stage: log2 n passes through memory",
     is_power_of_two, radix2_workspace},
    {"03_stockham_shared", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "a line in shared memory, one barrier per stage: one pass through memory", fits_a_block, NULL},
    {"04_radix8_registers", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "8 numbers per thread, three stages between two exchanges",
     fits_registers, NULL},
    {"05_radix16_registers", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "16 numbers per thread, one or two exchanges: limited by memory bandwidth", fits_wide_registers, NULL},
    {"06_four_step", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "columns, then rows, each in registers: two passes through memory", needs_passes, cuda_workspace},
    {"07_mixed_radix", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "radices 2, 3, 4, 5, 7 and 8 in shared memory", is_mixed,
     cuda_workspace},
    {"08_bluestein", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "any length as a convolution: three transforms of twice the length", is_rough, cuda_workspace},
    {"09_mixed_registers", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "radices 2 to 10 in registers, two lines per thread: one exchange less than radices", is_short_mixed, NULL},
    {"cufft", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuFFT, its plans cached: limited by memory bandwidth",
     heddle_fft_is_plain, NULL, .gpu_only = "cuFFT"},
};

const heddle_op heddle_op_fft = {
    .name = "fft",
    .ladder_name = "fft",
    .summary = "Fourier transforms of lines of complex numbers, forward and inverse",
    .shape_size = sizeof(heddle_fft_shape),
    HEDDLE_FIELDS(heddle_fft_fields),
    HEDDLE_OPERANDS(operands),
    .validate = heddle_fft_validate,
    .cost = cost,
    .reference = reference,
    .reduction = heddle_fft_reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
