// fft2d: images of complex numbers to their Fourier transforms along both axes, and back. Its cost, reference and
// ladder.

#include <stdlib.h>

#include "ops/define.h"
#include "ops/fft/operators.h"
#include "ops/fft/tables.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_fft2d_shape, batch, "images")},
    {HEDDLE_REQUIRED_INT(heddle_fft2d_shape, h, "rows")},
    {HEDDLE_REQUIRED_INT(heddle_fft2d_shape, w, "columns")},
    {HEDDLE_OPTIONAL_INT(heddle_fft2d_shape, inverse, 0, "1: inverse, with the other sign in the exponent")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_fft2d_shape, scale, 1,
                           "factor of the result; with 1 / (h w) the inverse undoes the forward transform")},
};

static heddle_status validate(const void *shape_)
{
    const heddle_fft2d_shape *shape = shape_;
    if (shape->h < 1 || shape->w < 1)
        return heddle_fail(HEDDLE_INVALID, "fft2d: images of %d by %d, but a transform has at least 1 number", shape->h,
                           shape->w);
    if (shape->inverse > 1)
        return heddle_fail(HEDDLE_INVALID, "fft2d: inverse is 0 or 1, not %d", shape->inverse);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_image, heddle_fft2d_shape, shape->batch, shape->h, shape->w, 2)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_image)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_image)},
};

HEDDLE_COST(cost, operands, heddle_fft2d_shape,
            heddle_fft_flops((double)shape->batch * shape->h, shape->w) +
                heddle_fft_flops((double)shape->batch * shape->w, shape->h))

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_fft2d_shape *shape = shape_;
    long long image = (long long)shape->h * shape->w;
    heddle_fft_lines rows = {1, shape->w, 0, 1, shape->w}, columns = {shape->w, image, 1, shape->w, shape->h};
    size_t batch = (size_t)shape->batch;
    heddle_fft_reference(shape->w, shape->inverse, shape->scale, input[0], output[0], batch * shape->h, &rows);
    heddle_fft_reference(shape->h, shape->inverse, 1, output[0], output[0], batch * shape->w, &columns);
}

static int64_t reduction(const void *shape_)
{
    const heddle_fft2d_shape *shape = shape_;
    bool naive = shape->h <= HEDDLE_FFT_LONGEST_NAIVE && shape->w <= HEDDLE_FFT_LONGEST_NAIVE;
    return heddle_fft_roundings(naive ? shape->h + shape->w : 0, (double)shape->h * shape->w);
}

static bool fits_cpu(const void *shape_)
{
    const heddle_fft2d_shape *shape = shape_;
    return heddle_fft_cpu_takes(HEDDLE_FFT_COMPLEX, shape->h) && heddle_fft_cpu_takes(HEDDLE_FFT_COMPLEX, shape->w);
}

// The kernels count lines in 32 bits, and so does Bluestein's power of two.
static bool fits_cuda(const void *shape_)
{
    const heddle_fft2d_shape *shape = shape_;
    const double most = 0x1p31;
    return fits_cpu(shape) && (double)shape->batch * shape->h < most && (double)shape->batch * shape->w < most;
}

static bool is_short(const void *shape_)
{
    const heddle_fft2d_shape *shape = shape_;
    return fits_cuda(shape) && shape->h <= HEDDLE_FFT_LONGEST_NAIVE && shape->w <= HEDDLE_FFT_LONGEST_NAIVE;
}

// Columns are read in place only by one kernel.
static bool has_short_columns(const void *shape_)
{
    const heddle_fft2d_shape *shape = shape_;
    return fits_cuda(shape) && heddle_fft_is_one_kernel(HEDDLE_FFT_COMPLEX, shape->h);
}

HEDDLE_OF_SHAPE(bool, is_plain, heddle_fft2d_shape, shape->scale == 1.0f)
HEDDLE_WORKSPACE(image_workspace, heddle_fft2d_shape, 2 * sizeof(float) * (size_t)shape->batch * shape->h * shape->w)

static size_t row_workspace(const heddle_fft2d_shape *shape)
{
    heddle_fft_job job =
        heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->w, (long long)shape->batch * shape->h, false, NULL, NULL);
    return heddle_fft_cuda_workspace(&job);
}

// Transposed images, and the workspace for rows of either length.
static size_t transposed_workspace(const void *shape_, int threads)
{
    const heddle_fft2d_shape *shape = shape_;
    heddle_fft2d_shape turned = *shape;
    turned.h = shape->w;
    turned.w = shape->h;
    size_t rows = row_workspace(shape), columns = row_workspace(&turned);
    return image_workspace(shape, threads) + 256 + (rows > columns ? rows : columns);
}

HEDDLE_WORKSPACE(columns_workspace, heddle_fft2d_shape, row_workspace(shape))

static const char *const test_shapes[] = {"batch=0 h=3 w=2",
                                          "batch=2 h=1 w=1 scale=2",
                                          "batch=1 h=1 w=5 inverse=1",
                                          "batch=2 h=7 w=1",
                                          "batch=3 h=4 w=6",
                                          "batch=2 h=11 w=13 inverse=1",
                                          "batch=2 h=32 w=12 scale=0.5",
                                          "batch=1 h=12 w=97",
                                          "batch=1 h=64 w=37 inverse=1",
                                          "batch=1 h=128 w=64",
                                          "batch=1 h=256 w=10",
                                          "batch=1 h=2048 w=3 inverse=1",
                                          NULL};
static const char *const bench_shapes[] = {"batch=64 h=512 w=512", "batch=16 h=1024 w=1024", "batch=1 h=2048 w=2048",
                                           "batch=16 h=1000 w=1000", NULL};

static const heddle_rung ladder[] = {
    {"cpu_dft", HEDDLE_CPU, HEDDLE_NAIVE, heddle_fft2d_cpu_dft, "defining sums along rows, then columns", is_short,
     heddle_fft2d_cpu_dft_workspace},
    {"cpu_lanes", HEDDLE_CPU, HEDDLE_TUNED, heddle_fft2d_cpu_lanes, "rows, then columns, eight at once in vectors",
     fits_cpu, heddle_fft2d_cpu_lanes_workspace},
#if HEDDLE_HAVE_FFTW
    {"cpu_fftw", HEDDLE_CPU, HEDDLE_VENDOR, heddle_fft2d_cpu_fftw, "FFTW, one image at a time over the threads", NULL,
     NULL},
#endif
    {"01_naive_dft", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per number, sums along rows, then columns", is_short,
     image_workspace},
    {"02_transposed", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "rows, transposed, rows, transposed: four passes through memory",
     fits_cuda, transposed_workspace},
    {"03_columns_in_place", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "rows, then columns in place, eight at once: two passes through memory", has_short_columns, columns_workspace},
    {"cufft", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuFFT, its plans cached: limited by memory bandwidth", is_plain, NULL,
     .gpu_only = "cuFFT"},
};

const heddle_op heddle_op_fft2d = {
    .name = "fft2d",
    .ladder_name = "fft",
    .summary = "Fourier transforms of images of complex numbers, forward and inverse",
    .shape_size = sizeof(heddle_fft2d_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
