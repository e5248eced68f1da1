// sync_batchnorm2d: batchnorm2d split where its sums are complete, for a batch that is spread over processes: between
// `moments` and `apply`, and between `sums` and `input_gradient`, the processes add their sums. On a GPU a plan uses
// these instead of batchnorm2d; on the CPU batchnorm2d exchanges its sums itself (ops/across.h). Sums are in float64:
// (1 + 2c), the number of values per channel, then two per channel.

#include "ops/sync_batchnorm2d/sync_batchnorm2d.h"

#include <math.h>

#include "heddle/random.h"
#include "ops/by_reference.h"
#include "ops/define.h"

typedef heddle_batchnorm2d_shape norm_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(norm_shape, n, "images of this process")},
    {HEDDLE_REQUIRED_INT(norm_shape, c, "channels")},
    {HEDDLE_REQUIRED_INT(norm_shape, h, "rows")},
    {HEDDLE_REQUIRED_INT(norm_shape, w, "columns")},
    {HEDDLE_OPTIONAL_FLOAT(norm_shape, epsilon, 1e-5, "added to the variance")},
    {HEDDLE_OPTIONAL_FLOAT(norm_shape, momentum, 0.1, "weight of this batch in the running statistics")},
};

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_input, norm_shape, shape->n, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_channels, norm_shape, shape->c)
HEDDLE_DIMS(dims_sums, norm_shape, 1 + 2 * shape->c)

#define SUMS_OUTPUT(operand) .name = operand, .role = HEDDLE_OUTPUT, .dtype = HEDDLE_F64, .dims = dims_sums
#define SUMS_INPUT(operand)                                                                                            \
    .name = operand, .role = HEDDLE_INPUT, .dtype = HEDDLE_F64, .values = HEDDLE_VALUES_OWN, .dims = dims_sums

static const heddle_operand moments_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {SUMS_OUTPUT("moments")},
};

static const heddle_operand apply_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, dims_channels)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, dims_channels)},
    {SUMS_INPUT("moments")},
    {HEDDLE_FLOAT_OUTPUT("output", dims_input)},
    {HEDDLE_FLOAT_OUTPUT("mean", dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("inverse_std", dims_channels)},
    {HEDDLE_FLOAT_UPDATE("running_mean", HEDDLE_VALUES_NORMAL, dims_channels), .optional = true},
    {HEDDLE_FLOAT_UPDATE("running_var", HEDDLE_VALUES_POSITIVE, dims_channels), .optional = true},
};

static const heddle_operand sums_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("mean", HEDDLE_VALUES_NORMAL, dims_channels)},
    {HEDDLE_FLOAT_INPUT("inverse_std", HEDDLE_VALUES_POSITIVE, dims_channels)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("grad_gamma", dims_channels)}, // this process's part: gradients are added later
    {HEDDLE_FLOAT_OUTPUT("grad_beta", dims_channels)},
    {SUMS_OUTPUT("sums")},
};

static const heddle_operand input_gradient_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, dims_channels)},
    {HEDDLE_FLOAT_INPUT("mean", HEDDLE_VALUES_NORMAL, dims_channels)},
    {HEDDLE_FLOAT_INPUT("inverse_std", HEDDLE_VALUES_POSITIVE, dims_channels)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_input)},
    {SUMS_INPUT("sums")},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_input)},
};

static heddle_status validate(const void *shape_)
{
    const norm_shape *shape = shape_;
    if (shape->epsilon < 0.0f || shape->momentum < 0.0f || shape->momentum > 1.0f)
        return heddle_fail(HEDDLE_INVALID,
                           "sync_batchnorm2d: epsilon must not be negative and momentum must be in [0, 1] "
                           "(epsilon=%g momentum=%g)",
                           shape->epsilon, shape->momentum);
    return HEDDLE_OK;
}

// Sums of a batch twice as large, with a variance: as if added over several processes.
static void fill_sums(const void *shape_, int operand, uint64_t seed, double *values)
{
    (void)operand;
    const norm_shape *shape = shape_;
    heddle_random random = heddle_random_make(seed, 0);
    double count = values[0] = 2.0 * shape->n * shape->h * shape->w + 2;
    for (int c = 0; c < shape->c; c++) {
        double mean = (double)heddle_random_uniform(&random) - 0.5;
        values[1 + 2 * c] = count * mean;
        values[2 + 2 * c] = count * (mean * mean + 0.5 + (double)heddle_random_uniform(&random));
    }
}

static double elements(const norm_shape *shape)
{
    return (double)shape->n * shape->c * shape->h * shape->w;
}

HEDDLE_COST(moments_cost, moments_operands, norm_shape, 3 * elements(shape))

static heddle_cost apply_cost(const void *shape_)
{
    const norm_shape *shape = shape_;
    return (heddle_cost){.flops = 3 * elements(shape),
                         .bytes_read = sizeof(float) * (elements(shape) + 4.0 * shape->c) + 16.0 * shape->c,
                         .bytes_written = sizeof(float) * (elements(shape) + 4.0 * shape->c)};
}

static heddle_cost sums_cost(const void *shape_)
{
    const norm_shape *shape = shape_;
    return (heddle_cost){.flops = 5 * elements(shape),
                         .bytes_read = sizeof(float) * (2 * elements(shape) + 2.0 * shape->c),
                         .bytes_written = 24.0 * shape->c};
}

static heddle_cost input_gradient_cost(const void *shape_)
{
    const norm_shape *shape = shape_;
    return (heddle_cost){.flops = 6 * elements(shape),
                         .bytes_read = sizeof(float) * (2 * elements(shape) + 3.0 * shape->c) + 16.0 * shape->c,
                         .bytes_written = sizeof(float) * elements(shape)};
}

// --- the reference --------------------------------------------------------------------------------------------------

static size_t place(const norm_shape *shape, int n, int c, int i)
{
    return ((size_t)n * shape->c + c) * shape->h * shape->w + i;
}

static void moments_reference(const void *shape_, const double *const *input, double *const *output)
{
    const norm_shape *shape = shape_;
    output[0][0] = (double)shape->n * shape->h * shape->w;
    for (int c = 0; c < shape->c; c++) {
        double *sums = output[0] + 1 + 2 * c;
        sums[0] = sums[1] = 0;
        for (int n = 0; n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                double value = input[0][place(shape, n, c, i)];
                sums[0] += value;
                sums[1] += value * value;
            }
    }
}

static void apply_reference(const void *shape_, const double *const *input, double *const *output)
{
    const norm_shape *shape = shape_;
    double count = input[3][0], momentum = shape->momentum;
    for (int c = 0; c < shape->c; c++) {
        double mean = input[3][1 + 2 * c] / count, variance = input[3][2 + 2 * c] / count - mean * mean;
        double inverse_std = 1 / sqrt(variance + shape->epsilon);
        output[1][c] = mean;
        output[2][c] = inverse_std;
        if (output[3])
            output[3][c] = (1 - momentum) * output[3][c] + momentum * mean;
        if (output[4])
            output[4][c] = (1 - momentum) * output[4][c] + momentum * variance * count / (count - 1);
        for (int n = 0; n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                output[0][at] = (input[0][at] - mean) * inverse_std * input[1][c] + input[2][c];
            }
    }
}

static void sums_reference(const void *shape_, const double *const *input, double *const *output)
{
    const norm_shape *shape = shape_;
    output[2][0] = (double)shape->n * shape->h * shape->w;
    for (int c = 0; c < shape->c; c++) {
        double sum = 0, product = 0;
        for (int n = 0; n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                sum += input[3][at];
                product += input[3][at] * (input[0][at] - input[1][c]) * input[2][c];
            }
        output[0][c] = output[2][2 + 2 * c] = product;
        output[1][c] = output[2][1 + 2 * c] = sum;
    }
}

static void input_gradient_reference(const void *shape_, const double *const *input, double *const *output)
{
    const norm_shape *shape = shape_;
    double count = input[5][0];
    for (int c = 0; c < shape->c; c++) {
        double gamma = input[1][c], mean = input[2][c], inverse_std = input[3][c];
        double sum = input[5][1 + 2 * c], product = input[5][2 + 2 * c];
        for (int n = 0; n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                double normalised = (input[0][at] - mean) * inverse_std;
                output[0][at] = gamma * inverse_std * (input[4][at] - sum / count - normalised * product / count);
            }
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, norm_shape, (int64_t)shape->n * shape->h * shape->w)

// --- the tables -----------------------------------------------------------------------------------------------------

static const char *const test_shapes[] = {
    "n=1 c=1 h=1 w=1",
    "n=2 c=0 h=3 w=3",
    "n=0 c=3 h=2 w=2",
    "n=3 c=5 h=7 w=11",
    "n=17 c=2 h=3 w=1",
    "n=3 c=2 h=19 w=17 epsilon=0.1 momentum=0.7",
    "n=2 c=2 h=35 w=37", // more than a block of 32×32, and
    "n=3 c=261 h=2 w=1", // more channels than the usual number of threads per block
    NULL,
};
// After the CNN's two convolutions at batch 256.
static const char *const bench_shapes[] = {"n=256 c=32 h=28 w=28", "n=256 c=64 h=14 w=14", NULL};

#define LADDER(name, text)                                                                                             \
    HEDDLE_BY_REFERENCE(sync_batchnorm2d_##name)                                                                       \
    static const heddle_rung name##_ladder[] = {                                                                       \
        HEDDLE_REFERENCE_RUNG(sync_batchnorm2d_##name),                                                                \
        {"01_block_a_channel", HEDDLE_CUDA, HEDDLE_TUNED, .note = (text)},                                             \
    };

LADDER(moments, "one block per channel, halving in shared memory: few blocks")
LADDER(apply, "one thread per element, recomputing its channel's numbers each time")
LADDER(sums, "one block per channel, halving in shared memory: few blocks")
LADDER(input_gradient, "one thread per element: limited by memory bandwidth")

#define OPERATOR(op, text, filled)                                                                                     \
    const heddle_op heddle_op_sync_batchnorm2d_##op = {                                                                \
        .name = "sync_batchnorm2d_" #op,                                                                               \
        .ladder_name = "sync_batchnorm2d",                                                                             \
        .summary = text,                                                                                               \
        .shape_size = sizeof(norm_shape),                                                                              \
        HEDDLE_FIELDS(fields),                                                                                         \
        HEDDLE_OPERANDS(op##_operands),                                                                                \
        .validate = validate,                                                                                          \
        .cost = op##_cost,                                                                                             \
        .reference = op##_reference,                                                                                   \
        .reduction = reduction,                                                                                        \
        .fill = filled,                                                                                                \
        .test_shapes = test_shapes,                                                                                    \
        .bench_shapes = bench_shapes,                                                                                  \
        HEDDLE_LADDER(op##_ladder),                                                                                    \
    }

OPERATOR(moments, "a process's moments of each channel: number of values, sum, sum of squares", NULL);
OPERATOR(apply, "each channel normalised by the moments of all processes, scaled and shifted", fill_sums);
OPERATOR(sums, "a process's part of the sums for batchnorm's gradient, and for the gradients of gamma and beta", NULL);
OPERATOR(input_gradient, "the gradient of batchnorm's input, from the sums of all processes", fill_sums);
