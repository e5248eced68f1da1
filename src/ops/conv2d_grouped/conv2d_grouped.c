// conv2d_grouped: a convolution with its channels in groups; each filter reads only the channels of its own group. As
// many groups as channels make it depthwise. Its costs, references and ladders.

#include "ops/conv2d_grouped/conv2d_grouped.h"

#include <limits.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    HEDDLE_CONV2D_FIELD_ROWS,
    {HEDDLE_REQUIRED_INT(heddle_conv2d_grouped_shape, groups, "groups; they divide the channels of input and output")},
};

HEDDLE_DIMS(dims_weight, heddle_conv2d_grouped_shape, shape->conv.k, shape->conv.c / shape->groups, shape->conv.r,
            shape->conv.s)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_bias), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_conv2d_dims_output)},
};

static const heddle_operand backward_data_operands[] = {
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, dims_weight)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", heddle_conv2d_dims_input)},
};

static const heddle_operand backward_weight_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_weight", dims_weight)},
    {HEDDLE_FLOAT_OUTPUT("grad_bias", heddle_conv2d_dims_bias), .optional = true},
};

static heddle_status validate(const void *shape_)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    HEDDLE_TRY(heddle_conv2d_validate(&shape->conv));
    if (shape->groups < 1 || shape->conv.c % shape->groups || shape->conv.k % shape->groups)
        return heddle_fail(HEDDLE_INVALID, "conv2d_grouped: groups=%d must divide c=%d and k=%d", shape->groups,
                           shape->conv.c, shape->conv.k);
    return HEDDLE_OK;
}

// All three do the same multiplications; they differ in which two of the arrays are read.
static heddle_cost cost(const heddle_conv2d_grouped_shape *shape, bool input, bool weight, bool output)
{
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    double taps = (double)group.channels * shape->conv.r * shape->conv.s;
    double outputs = (double)shape->conv.n * shape->conv.k * (double)group.out_plane;
    double input_bytes = sizeof(float) * (double)shape->conv.n * shape->conv.c * (double)group.in_plane;
    double weight_bytes = sizeof(float) * (taps + 1) * shape->conv.k;
    double output_bytes = sizeof(float) * outputs;
    double all = input_bytes + weight_bytes + output_bytes;
    double read = input * input_bytes + weight * weight_bytes + output * output_bytes;
    return (heddle_cost){.flops = 2 * taps * outputs, .bytes_read = read, .bytes_written = all - read};
}

static heddle_cost forward_cost(const void *shape)
{
    return cost(shape, true, true, false);
}

static heddle_cost backward_data_cost(const void *shape)
{
    return cost(shape, false, true, true);
}

static heddle_cost backward_weight_cost(const void *shape)
{
    return cost(shape, true, false, true);
}

// --- the reference --------------------------------------------------------------------------------------------------

// The places of the three numbers of one multiplication.
typedef struct product {
    size_t input, weight, output;
} product;

// Calls visit for every multiplication of output element (n, k, y, x).
static void walk_window(const heddle_conv2d_grouped_shape *shape, int n, int k, int y, int x,
                        void (*visit)(void *context, product at), void *context)
{
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    size_t output = ((size_t)n * conv->k + k) * group.out_plane + (size_t)y * group.out_w + x;
    for (int c = 0; c < group.channels; c++)
        for (int r = 0; r < conv->r; r++)
            for (int s = 0; s < conv->s; s++) {
                int h = y * conv->stride + r * conv->dilation - conv->padding;
                int w = x * conv->stride + s * conv->dilation - conv->padding;
                size_t channel = (size_t)(k / group.filters) * group.channels + c;
                if (h >= 0 && h < conv->h && w >= 0 && w < conv->w)
                    visit(context, (product){(((size_t)n * conv->c + channel) * conv->h + h) * conv->w + w,
                                             (((size_t)k * group.channels + c) * conv->r + r) * conv->s + s, output});
            }
}

static void walk(const heddle_conv2d_grouped_shape *shape, void (*visit)(void *context, product at), void *context)
{
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    for (int n = 0; n < shape->conv.n; n++)
        for (int k = 0; k < shape->conv.k; k++)
            for (int y = 0; y < group.out_h; y++)
                for (int x = 0; x < group.out_w; x++)
                    walk_window(shape, n, k, y, x, visit, context);
}

typedef struct operands {
    const double *input, *weight, *output; // read
    double *sum;                           // added to
} operands;

static void add_to_output(void *context, product at)
{
    operands *arrays = context;
    arrays->sum[at.output] += arrays->input[at.input] * arrays->weight[at.weight];
}

static void add_to_input(void *context, product at)
{
    operands *arrays = context;
    arrays->sum[at.input] += arrays->output[at.output] * arrays->weight[at.weight];
}

static void add_to_weight(void *context, product at)
{
    operands *arrays = context;
    arrays->sum[at.weight] += arrays->output[at.output] * arrays->input[at.input];
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    size_t plane = heddle_conv2d_group_of(shape).out_plane;
    for (size_t i = 0; i < (size_t)shape->conv.n * shape->conv.k * plane; i++)
        output[0][i] = input[2] ? input[2][i / plane % shape->conv.k] : 0;
    walk(shape, add_to_output, &(operands){.input = input[0], .weight = input[1], .sum = output[0]});
}

static void backward_data_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->conv.n * shape->conv.c * shape->conv.h * shape->conv.w; i++)
        output[0][i] = 0;
    walk(shape, add_to_input, &(operands){.weight = input[0], .output = input[1], .sum = output[0]});
}

static void backward_weight_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    for (size_t i = 0; i < (size_t)shape->conv.k * group.channels * shape->conv.r * shape->conv.s; i++)
        output[0][i] = 0;
    walk(shape, add_to_weight, &(operands){.input = input[0], .output = input[1], .sum = output[0]});
    if (!output[1])
        return;
    for (int k = 0; k < shape->conv.k; k++)
        output[1][k] = 0;
    for (size_t i = 0; i < (size_t)shape->conv.n * shape->conv.k * group.out_plane; i++)
        output[1][i / group.out_plane % shape->conv.k] += input[1][i];
}

HEDDLE_OF_SHAPE(int64_t, forward_reduction, heddle_conv2d_grouped_shape,
                (int64_t)(shape->conv.c / shape->groups) * shape->conv.r * shape->conv.s)
HEDDLE_OF_SHAPE(int64_t, backward_data_reduction, heddle_conv2d_grouped_shape,
                (int64_t)(shape->conv.k / shape->groups) * shape->conv.r * shape->conv.s)
HEDDLE_OF_SHAPE(int64_t, backward_weight_reduction, heddle_conv2d_grouped_shape,
                (int64_t)heddle_conv2d_group_of(shape).out_plane * shape->conv.n)

// --- the tables -----------------------------------------------------------------------------------------------------

static const char *const test_shapes[] = {
    "n=0 c=2 h=5 w=5 k=4 groups=2",
    "n=1 c=1 h=1 w=1 k=1 groups=1",
    "n=2 c=6 h=5 w=7 k=4 groups=2",
    "n=2 c=5 h=9 w=8 k=5 groups=5",
    "n=1 c=3 h=7 w=11 k=9 groups=3 stride=2",
    "n=2 c=4 h=11 w=13 k=8 groups=4 r=5 s=3 stride=3 padding=2",
    "n=2 c=4 h=9 w=11 k=2 groups=2 dilation=2 padding=2",
    "n=1 c=2 h=7 w=7 k=2 groups=2 r=3 s=2 stride=2 padding=3 dilation=3",
    "n=3 c=14 h=6 w=5 k=21 groups=7 r=1 s=1 padding=0",
    "n=1 c=2 h=3 w=4 k=2 groups=2 stride=2 padding=4",
    "n=2 c=32 h=17 w=19 k=32 groups=32",
    "n=1 c=261 h=2 w=3 k=261 groups=261",
    // More pixels, and more weights, than a block of 32×32.
    "n=1 c=2 h=35 w=37 k=4 groups=2",
    "n=1 c=70 h=3 w=4 k=66 groups=2",
    NULL,
};
// Depthwise as in MobileNet at two sizes, and 32 groups of 4 as in ResNeXt.
static const char *const bench_shapes[] = {
    "n=64 c=128 h=56 w=56 k=128 groups=128",
    "n=64 c=512 h=14 w=14 k=512 groups=512",
    "n=64 c=128 h=28 w=28 k=128 groups=32",
    NULL,
};

// One block per plane; its filters fit in shared memory.
static bool planes_fit(const heddle_conv2d_shape *conv, int channels, int filters)
{
    return (double)conv->n * channels <= INT_MAX && (double)filters * conv->r * conv->s <= HEDDLE_CONV2D_GROUPED_FILTER;
}

static bool forward_fits(const void *shape_)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    return planes_fit(&shape->conv, shape->conv.k, shape->conv.c / shape->groups);
}

static bool backward_data_fits(const void *shape_)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    return planes_fit(&shape->conv, shape->conv.c, shape->conv.k / shape->groups);
}

static bool weights_fit(const void *shape_)
{
    const heddle_conv2d_grouped_shape *shape = shape_;
    return (double)shape->conv.k * (shape->conv.c / shape->groups) * shape->conv.r * shape->conv.s <= INT_MAX;
}

#define NAIVE_NOTE "one thread per element: index arithmetic and a bounds check per multiplication"
#define PLANE_NOTE "one block per plane, its filters in shared memory: limited by loads of the image"

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_grouped_forward_cpu_naive,
     "one thread, one bounds check per multiplication", NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_grouped_forward_cpu_planes,
     "planes over the threads, vectors along rows: limited by adding each tap to the plane", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, NAIVE_NOTE, NULL, NULL},
    {"02_block_per_plane", HEDDLE_CUDA, HEDDLE_TUNED, NULL, PLANE_NOTE, forward_fits, NULL},
};

static const heddle_rung backward_data_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_grouped_backward_data_cpu_naive,
     "one thread, one bounds check per multiplication", NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_grouped_backward_data_cpu_planes,
     "planes over the threads, vectors along rows: limited by adding each tap to the plane", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, NAIVE_NOTE, NULL, NULL},
    {"02_block_per_plane", HEDDLE_CUDA, HEDDLE_TUNED, NULL, PLANE_NOTE, backward_data_fits, NULL},
};

static const heddle_rung backward_weight_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_grouped_backward_weight_cpu_naive,
     "one thread, one bounds check per multiplication", NULL, NULL},
    {"cpu_planes", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_grouped_backward_weight_cpu_planes,
     "filters over the threads, products of rows by vectors: limited by short rows", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per weight: few threads, each with a long sum", NULL,
     NULL},
    {"02_block_per_weight", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one block per weight, its sum over all threads: limited by reading both arrays once per tap", weights_fit, NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_conv2d_grouped_backward_data,
                                             &heddle_op_conv2d_grouped_backward_weight, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "conv2d_grouped", .shape_size = sizeof(heddle_conv2d_grouped_shape), HEDDLE_FIELDS(fields),         \
    .validate = validate, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_conv2d_grouped_forward = {
    .name = "conv2d_grouped_forward",
    .summary = "2-D convolution in groups of channels",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_conv2d_grouped_backward_data = {
    .name = "conv2d_grouped_backward_data",
    .summary = "gradient of conv2d_grouped's input",
    SHARED,
    HEDDLE_OPERANDS(backward_data_operands),
    .cost = backward_data_cost,
    .reference = backward_data_reference,
    .reduction = backward_data_reduction,
    HEDDLE_LADDER(backward_data_ladder),
};

const heddle_op heddle_op_conv2d_grouped_backward_weight = {
    .name = "conv2d_grouped_backward_weight",
    .summary = "gradients of conv2d_grouped's weight and bias",
    SHARED,
    HEDDLE_OPERANDS(backward_weight_operands),
    .cost = backward_weight_cost,
    .reference = backward_weight_reference,
    .reduction = backward_weight_reduction,
    HEDDLE_LADDER(backward_weight_ladder),
};
