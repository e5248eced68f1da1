// globalavgpool: the mean of each plane of an image, which turns an image of c channels into a row of c features. Its
// cost, reference and ladder.

#include "ops/globalavgpool/globalavgpool.h"

#include <limits.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_globalavgpool_shape, n, "images")},
    {HEDDLE_REQUIRED_INT(heddle_globalavgpool_shape, c, "channels")},
    {HEDDLE_REQUIRED_INT(heddle_globalavgpool_shape, h, "rows")},
    {HEDDLE_REQUIRED_INT(heddle_globalavgpool_shape, w, "columns")},
};

HEDDLE_DIMS(dims_images, heddle_globalavgpool_shape, shape->n, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_means, heddle_globalavgpool_shape, shape->n, shape->c)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_images)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_means)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_means)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_images)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_globalavgpool_shape *shape = shape_;
    if (shape->h < 1 || shape->w < 1)
        return heddle_fail(HEDDLE_INVALID, "globalavgpool: there is no mean of %dx%d pixels; give at least 1x1",
                           shape->h, shape->w);
    if ((long long)shape->h * shape->w > INT_MAX || (long long)shape->n * shape->c > INT_MAX)
        return heddle_fail(HEDDLE_INVALID,
                           "globalavgpool: a plane must have fewer than 2^31 pixels, a batch fewer "
                           "than 2^31 planes (n=%d c=%d h=%d w=%d)",
                           shape->n, shape->c, shape->h, shape->w);
    return HEDDLE_OK;
}

HEDDLE_COST(forward_cost, forward_operands, heddle_globalavgpool_shape,
            (double)shape->n * shape->c * shape->h * shape->w)
HEDDLE_COST(backward_cost, backward_operands, heddle_globalavgpool_shape, (double)shape->n * shape->c)

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_globalavgpool_shape *shape = shape_;
    size_t pixels = (size_t)shape->h * shape->w;
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++) {
        output[0][p] = 0;
        for (size_t i = 0; i < pixels; i++)
            output[0][p] += input[0][p * pixels + i] / (double)pixels;
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_globalavgpool_shape *shape = shape_;
    size_t pixels = (size_t)shape->h * shape->w;
    for (size_t i = 0; i < (size_t)shape->n * shape->c * pixels; i++)
        output[0][i] = input[0][i / pixels] / (double)pixels;
}

HEDDLE_OF_SHAPE(int64_t, forward_reduction, heddle_globalavgpool_shape, (int64_t)shape->h * shape->w)

static const char *const test_shapes[] = {
    "n=0 c=3 h=4 w=4",   "n=1 c=1 h=1 w=1",   "n=2 c=3 h=7 w=5",   "n=3 c=11 h=4 w=4",
    "n=1 c=2 h=35 w=37", "n=37 c=41 h=1 w=2", "n=2 c=5 h=28 w=28", NULL,
};
// The end of the ResNet in examples/models at batch 1024 and 64, and the end of ResNet-50.
static const char *const bench_shapes[] = {"n=1024 c=128 h=8 w=8", "n=64 c=128 h=8 w=8", "n=64 c=2048 h=7 w=7", NULL};

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_globalavgpool_forward_cpu_naive,
     "one thread, one addition after another", NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_globalavgpool_forward_cpu_planes,
     "planes over the threads, eight sums at a time: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per plane: uncoalesced loads", NULL, NULL},
    {"02_warp_per_plane", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one warp adds a plane, coalesced: memory-bound", NULL,
     NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_globalavgpool_backward_cpu_naive, "one thread, one pixel at a time",
     NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_globalavgpool_backward_cpu_planes,
     "planes over the threads, by vectors: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per pixel, a division to find its plane", NULL, NULL},
    {"02_warp_per_plane", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one warp fills a plane: no division, memory-bound", NULL,
     NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_globalavgpool_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "globalavgpool", .shape_size = sizeof(heddle_globalavgpool_shape), HEDDLE_FIELDS(fields),           \
    .validate = validate, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_globalavgpool_forward = {
    .name = "globalavgpool_forward",
    .summary = "mean of each plane of an image",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_globalavgpool_backward = {
    .name = "globalavgpool_backward",
    .summary = "gradient of globalavgpool: spread evenly over each plane",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    HEDDLE_LADDER(backward_ladder),
};
