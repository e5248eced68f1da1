// batchnorm2d: each channel normalised to mean 0 and variance 1 over the batch, then scaled by gamma and shifted by
// beta. Its shapes, costs, references and ladders. inference uses the running statistics instead.

#include "ops/batchnorm2d/batchnorm2d.h"

#include <math.h>

#include "ops/define.h"

const heddle_field heddle_batchnorm2d_fields[HEDDLE_BATCHNORM2D_FIELDS] = {
    {HEDDLE_REQUIRED_INT(heddle_batchnorm2d_shape, n, "images")},
    {HEDDLE_REQUIRED_INT(heddle_batchnorm2d_shape, c, "channels")},
    {HEDDLE_REQUIRED_INT(heddle_batchnorm2d_shape, h, "rows")},
    {HEDDLE_REQUIRED_INT(heddle_batchnorm2d_shape, w, "columns")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_batchnorm2d_shape, epsilon, 1e-5, "added to the variance")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_batchnorm2d_shape, momentum, 0.1, "weight of this batch in the running statistics")},
};

HEDDLE_SHARED_DIMS(heddle_batchnorm2d_dims_input, heddle_batchnorm2d_shape, shape->n, shape->c, shape->h, shape->w)
HEDDLE_SHARED_DIMS(heddle_batchnorm2d_dims_channels, heddle_batchnorm2d_shape, shape->c)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_OUTPUT("mean", heddle_batchnorm2d_dims_channels), .saved = true},
    {HEDDLE_FLOAT_OUTPUT("inverse_std", heddle_batchnorm2d_dims_channels), .saved = true},
    {HEDDLE_FLOAT_UPDATE("running_mean", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels), .optional = true},
    {HEDDLE_FLOAT_UPDATE("running_var", HEDDLE_VALUES_POSITIVE, heddle_batchnorm2d_dims_channels), .optional = true},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("mean", HEDDLE_VALUES_SAVED, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("inverse_std", HEDDLE_VALUES_SAVED, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", heddle_batchnorm2d_dims_input), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_gamma", heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("grad_beta", heddle_batchnorm2d_dims_channels)},
};

static const heddle_operand inference_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("running_mean", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("running_var", HEDDLE_VALUES_POSITIVE, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_batchnorm2d_dims_input)},
};

static heddle_status inference_validate(const void *shape_)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    if (shape->epsilon < 0.0f || shape->momentum < 0.0f || shape->momentum > 1.0f)
        return heddle_fail(HEDDLE_INVALID,
                           "batchnorm2d: epsilon must not be negative and momentum must be in [0, 1] "
                           "(epsilon=%g momentum=%g)",
                           shape->epsilon, shape->momentum);
    return HEDDLE_OK;
}

heddle_status heddle_batchnorm2d_training_validate(const void *shape_)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    if (shape->c > 0 && (double)shape->n * shape->h * shape->w < 2)
        return heddle_fail(HEDDLE_INVALID,
                           "batchnorm2d: a variance needs at least 2 values per channel (n=%d h=%d w=%d); use "
                           "batchnorm2d_inference for single values",
                           shape->n, shape->h, shape->w);
    return inference_validate(shape_);
}

static double elements(const heddle_batchnorm2d_shape *shape)
{
    return (double)shape->n * shape->c * shape->h * shape->w;
}

// A sum, a centred square, and subtract, multiply, add.
HEDDLE_SHARED_COST(heddle_batchnorm2d_forward_cost, forward_operands, heddle_batchnorm2d_shape, 7 * elements(shape))
HEDDLE_COST(backward_cost, backward_operands, heddle_batchnorm2d_shape, 9 * elements(shape))
HEDDLE_COST(inference_cost, inference_operands, heddle_batchnorm2d_shape, 3 * elements(shape))

// --- the reference --------------------------------------------------------------------------------------------------

static size_t place(const heddle_batchnorm2d_shape *shape, int n, int c, int i)
{
    return ((size_t)n * shape->c + c) * shape->h * shape->w + i;
}

static void statistics(const heddle_batchnorm2d_shape *shape, const double *input, int c, double *mean, double *squares)
{
    int plane = shape->h * shape->w;
    *mean = *squares = 0;
    for (int n = 0; n < shape->n; n++)
        for (int i = 0; i < plane; i++)
            *mean += input[place(shape, n, c, i)] / ((double)shape->n * plane);
    for (int n = 0; n < shape->n; n++)
        for (int i = 0; i < plane; i++)
            *squares += pow(input[place(shape, n, c, i)] - *mean, 2);
}

void heddle_batchnorm2d_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    double count = (double)shape->n * shape->h * shape->w, momentum = shape->momentum;
    for (int c = 0; c < shape->c; c++) {
        double mean, squares;
        statistics(shape, input[0], c, &mean, &squares);
        double inverse_std = 1 / sqrt(squares / count + shape->epsilon);
        output[1][c] = mean;
        output[2][c] = inverse_std;
        if (output[3])
            output[3][c] = (1 - momentum) * output[3][c] + momentum * mean;
        if (output[4])
            output[4][c] = (1 - momentum) * output[4][c] + momentum * squares / (count - 1);
        for (int n = 0; n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                output[0][at] = (input[0][at] - mean) * inverse_std * input[1][c] + input[2][c];
            }
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    double count = (double)shape->n * shape->h * shape->w;
    for (int c = 0; c < shape->c; c++) {
        double gamma = input[1][c], mean = input[2][c], inverse_std = input[3][c];
        double sum = 0, product = 0;
        for (int n = 0; n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                sum += input[4][at];
                product += input[4][at] * (input[0][at] - mean) * inverse_std;
            }
        output[1][c] = product;
        output[2][c] = sum;
        for (int n = 0; output[0] && n < shape->n; n++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                double normalised = (input[0][at] - mean) * inverse_std;
                output[0][at] = gamma * inverse_std * (input[4][at] - sum / count - normalised * product / count);
            }
    }
}

static void inference_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    for (int n = 0; n < shape->n; n++)
        for (int c = 0; c < shape->c; c++)
            for (int i = 0; i < shape->h * shape->w; i++) {
                size_t at = place(shape, n, c, i);
                double normalised = (input[0][at] - input[3][c]) / sqrt(input[4][c] + shape->epsilon);
                output[0][at] = normalised * input[1][c] + input[2][c];
            }
}

HEDDLE_SHARED_OF_SHAPE(int64_t, heddle_batchnorm2d_reduction, heddle_batchnorm2d_shape,
                       (int64_t)shape->n * shape->h * shape->w)

// --- the tables -----------------------------------------------------------------------------------------------------

static const char *const training_test_shapes[] = {
    "n=2 c=1 h=1 w=1",
    "n=1 c=1 h=1 w=2",
    "n=2 c=0 h=3 w=3",
    "n=3 c=5 h=7 w=11",
    "n=1 c=3 h=5 w=5",
    "n=17 c=2 h=3 w=1",
    "n=5 c=7 h=8 w=8",
    "n=2 c=67 h=3 w=3",
    "n=3 c=2 h=29 w=31 epsilon=0.1 momentum=0.7",
    "n=5 c=3 h=32 w=30", // more than one tile of 02_channel_tiles, whole vectors, and
    "n=3 c=2 h=41 w=37", // ragged
    "n=3 c=261 h=2 w=1", // more channels than the usual number of threads per block
    NULL,
};
static const char *const inference_test_shapes[] = {
    "n=0 c=3 h=4 w=4",
    "n=1 c=1 h=1 w=1",
    "n=3 c=5 h=7 w=11",
    "n=2 c=67 h=3 w=3",
    "n=3 c=2 h=89 w=93 epsilon=0.1",
    "n=3 c=2 h=48 w=48",
    NULL,
};
// 1 GiB; after the CNN's two convolutions at batch 64 and 256; then a ragged one.
static const char *const bench_shapes[] = {
    "n=1024 c=64 h=64 w=64",
    "n=64 c=32 h=28 w=28",
    "n=64 c=64 h=14 w=14",
    "n=256 c=32 h=28 w=28",
    "n=256 c=64 h=14 w=14",
    "n=512 c=256 h=7 w=7",
    NULL,
};

// One double per channel: the mean that one kernel leaves for the next.
HEDDLE_SHARED_WORKSPACE(heddle_batchnorm2d_naive_workspace, heddle_batchnorm2d_shape, (size_t)shape->c * sizeof(double))

// 02_channel_tiles: four floats per channel, then three per tile of 4096 elements.
size_t heddle_batchnorm2d_tiles_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { TILE = 4096 };
    const heddle_batchnorm2d_shape *shape = shape_;
    size_t tiles = ((size_t)shape->n * shape->h * shape->w + TILE - 1) / TILE;
    return (size_t)shape->c * (4 + 3 * tiles) * sizeof(float);
}

// Running statistics that a call omits: cuDNN takes both or none.
HEDDLE_SHARED_WORKSPACE(heddle_batchnorm2d_cudnn_workspace, heddle_batchnorm2d_shape,
                        2 * (size_t)shape->c * sizeof(float))

// It counts a channel's elements, and all tiles, in 32 bits.
bool heddle_batchnorm2d_supports_tiles(const void *shape_)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    double most = 1 << 30, of_channel = (double)shape->n * shape->h * shape->w;
    return of_channel <= most && shape->c * (of_channel / 4096 + 1) <= most;
}

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_batchnorm2d_forward_cpu_naive,
     "three passes over each channel, one number at a time", NULL, NULL},
    {"cpu_channels", HEDDLE_CPU, HEDDLE_TUNED, heddle_batchnorm2d_forward_cpu_channels,
     "channels over the threads, vectors along each plane: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per channel for the statistics, one thread per element to use them: few threads, long sums", NULL,
     heddle_batchnorm2d_naive_workspace},
    {"cudnn_graph", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuDNN's graph of one operation, by an engine that it compiles at run time: limited by memory bandwidth", NULL,
     heddle_batchnorm2d_cudnn_workspace, .gpu_only = "cuDNN"},
    {"02_channel_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "channels cut into tiles over all blocks, 16 bytes per access: the input is read twice",
     heddle_batchnorm2d_supports_tiles, heddle_batchnorm2d_tiles_workspace},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_batchnorm2d_backward_cpu_naive,
     "two passes over each channel, one number at a time", NULL, NULL},
    {"cpu_channels", HEDDLE_CPU, HEDDLE_TUNED, heddle_batchnorm2d_backward_cpu_channels,
     "channels over the threads, vectors along each plane: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per channel for the sums, one thread per element to use them: few threads, long sums", NULL, NULL},
    {"02_channel_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "channels cut into tiles over all blocks, 16 bytes per access: the inputs are read twice",
     heddle_batchnorm2d_supports_tiles, heddle_batchnorm2d_tiles_workspace},
};

static const heddle_rung inference_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_batchnorm2d_inference_cpu_naive,
     "one pass, a square root and a division per element", NULL, NULL},
    {"cpu_channels", HEDDLE_CPU, HEDDLE_TUNED, heddle_batchnorm2d_inference_cpu_channels,
     "planes over the threads, one multiplication and addition per element: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: a square root and a division each", NULL,
     NULL},
    {"02_channel_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one tile of a channel per block, 16 bytes per access: limited by memory bandwidth",
     heddle_batchnorm2d_supports_tiles, NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_batchnorm2d_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "batchnorm2d", .shape_size = sizeof(heddle_batchnorm2d_shape),                                      \
    HEDDLE_FIELDS(heddle_batchnorm2d_fields), .bench_shapes = bench_shapes

const heddle_op heddle_op_batchnorm2d_forward = {
    .name = "batchnorm2d_forward",
    .summary = "each channel normalised over the batch, scaled and shifted; updates the running statistics",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .validate = heddle_batchnorm2d_training_validate,
    .cost = heddle_batchnorm2d_forward_cost,
    .reference = heddle_batchnorm2d_forward_reference,
    .reduction = heddle_batchnorm2d_reduction,
    .test_shapes = training_test_shapes,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_batchnorm2d_backward = {
    .name = "batchnorm2d_backward",
    .summary = "gradients of batchnorm2d",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .validate = heddle_batchnorm2d_training_validate,
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = heddle_batchnorm2d_reduction,
    .test_shapes = training_test_shapes,
    HEDDLE_LADDER(backward_ladder),
};

const heddle_op heddle_op_batchnorm2d_inference = {
    .name = "batchnorm2d_inference",
    .summary = "each channel normalised by its running statistics, scaled and shifted",
    SHARED,
    HEDDLE_OPERANDS(inference_operands),
    .validate = inference_validate,
    .cost = inference_cost,
    .reference = inference_reference,
    .test_shapes = inference_test_shapes,
    HEDDLE_LADDER(inference_ladder),
};
