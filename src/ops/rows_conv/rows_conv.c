// rows_conv: a convolution, or a linear layer, over rows of bf16 or bytes (heddle/ops.h). Its cost, reference and
// ladders.

#include "ops/rows_conv/rows_conv.h"

#include <math.h>
#include <string.h>

#include "ops/rows_define.h"

typedef heddle_rows_conv_shape conv_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(conv_shape, n, "images of the frame")},
    {HEDDLE_OPTIONAL_INT(conv_shape, h, 1, "lines of an image")},
    {HEDDLE_OPTIONAL_INT(conv_shape, w, 1, "pixels of a line")},
    {HEDDLE_OPTIONAL_INT(conv_shape, gap, 0, "lines below and pixels right of an image")},
    {HEDDLE_REQUIRED_INT(conv_shape, c, "input channels, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(conv_shape, k, "output channels, a multiple of 8")},
    {HEDDLE_OPTIONAL_INT(conv_shape, r, 1, "lines of the filter")},
    {HEDDLE_OPTIONAL_INT(conv_shape, s, 1, "pixels of a line of the filter")},
    {HEDDLE_OPTIONAL_INT(conv_shape, padding, 0, "zeros around an image, at most the gap")},
    {HEDDLE_OPTIONAL_INT(conv_shape, function, 0, "0: none, 1: relu, 2: tanh, 3: sigmoid")},
    {HEDDLE_OPTIONAL_INT(conv_shape, zero_gaps, 0, "1: rows without a result are zero")},
    {HEDDLE_OPTIONAL_INT(conv_shape, parts, 1, "of the rows that backward_weight sums separately")},
    {HEDDLE_ROWS_HALF(conv_shape)},
    {HEDDLE_ROWS_PAIRS(conv_shape)},
    {HEDDLE_ROWS_INT8(conv_shape)},
};

HEDDLE_ROWS_ANY_ELEMENT(element, conv_shape)

heddle_status heddle_rows_conv_validate(const void *shape_)
{
    const conv_shape *shape = shape_;
    const double rows = (double)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap);
    if (shape->n < 1 || shape->h < 1 || shape->w < 1 || shape->c < 1 || shape->k < 1 || shape->parts < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: n, h, w, c, k and parts must be at least 1");
    if (shape->c % HEDDLE_ROWS_ALIGNMENT || shape->k % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: c=%d and k=%d must be multiples of %d", shape->c, shape->k,
                           HEDDLE_ROWS_ALIGNMENT);
    if (shape->r < 1 || shape->s < 1 || shape->r * shape->s > HEDDLE_ROWS_MOST_TAPS)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: a filter of %d x %d; it has 1 to %d taps", shape->r, shape->s,
                           HEDDLE_ROWS_MOST_TAPS);
    if (shape->padding > shape->gap)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: padding=%d needs a gap as large, gap=%d", shape->padding,
                           shape->gap);
    const int out_h = heddle_rows_conv_out_h(shape), out_w = heddle_rows_conv_out_w(shape);
    if (out_h < 1 || out_w < 1 || out_h > shape->h + shape->gap || out_w > shape->w + shape->gap)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: %d x %d results do not fit into a frame of %d x %d", out_h,
                           out_w, shape->h + shape->gap, shape->w + shape->gap);
    if (rows * shape->c > 2e9 || rows * shape->k > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: more than 2e9 elements");
    if (shape->function >= HEDDLE_ROWS_FUNCTIONS || shape->zero_gaps > 1 || shape->pairs > 1 || shape->int8 > 1)
        return heddle_fail(HEDDLE_INVALID, "rows_conv: function=%d zero_gaps=%d pairs=%d int8=%d", shape->function,
                           shape->zero_gaps, shape->pairs, shape->int8);
    if (shape->int8 && (shape->c % HEDDLE_ROWS_BYTE_ALIGNMENT || shape->k % HEDDLE_ROWS_BYTE_ALIGNMENT ||
                        shape->c > HEDDLE_ROWS_MOST_BYTES / (shape->r * shape->s)))
        return heddle_fail(
            HEDDLE_INVALID,
            "rows_conv: c=%d and k=%d of bytes must be multiples of %d, with at most %d products per sum", shape->c,
            shape->k, HEDDLE_ROWS_BYTE_ALIGNMENT, HEDDLE_ROWS_MOST_BYTES);
    return HEDDLE_OK;
}

// Of the operators that have no kernels for bytes.
static heddle_status validate_floats(const void *shape)
{
    HEDDLE_TRY(heddle_rows_conv_validate(shape));
    return heddle_rows_is_floats("rows_conv", ((const conv_shape *)shape)->int8);
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_input, conv_shape, heddle_rows_conv_rows(shape), shape->c)
HEDDLE_DIMS(dims_output, conv_shape, heddle_rows_conv_rows(shape), shape->k)
HEDDLE_DIMS(dims_weight, conv_shape, shape->k, shape->r * shape->s, shape->c)
HEDDLE_DIMS(dims_channels, conv_shape, shape->k)
HEDDLE_DIMS(dims_scale, conv_shape, shape->int8 ? shape->k : 0)
HEDDLE_DIMS(dims_sums, conv_shape, 2, shape->int8 ? 0 : shape->k)
HEDDLE_DIMS(dims_parts, conv_shape, shape->parts, shape->k, shape->r * shape->s, shape->c)
HEDDLE_DIMS(dims_bias_parts, conv_shape, shape->parts, shape->k)
HEDDLE_DIMS(dims_arrived, conv_shape, (shape->k + HEDDLE_ROWS_COUNTED - 1) / HEDDLE_ROWS_COUNTED)

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_NORMAL, size)

static const heddle_operand forward_operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_channels), .optional = true},
    {HEDDLE_FLOAT_INPUT("scale", HEDDLE_VALUES_OWN, dims_scale), .optional = true},
    {ROWS("output", HEDDLE_OUTPUT, dims_output)},
    {HEDDLE_FLOAT_OUTPUT("sums", dims_sums), .optional = true},
    {HEDDLE_ROWS_ARRIVED(dims_arrived), .optional = true},
};

enum { SCALE = 3 };

static const heddle_operand logits_operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_channels), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output)},
};

static const heddle_operand data_operands[] = {
    {ROWS("grad_output", HEDDLE_INPUT, dims_output)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {ROWS("input", HEDDLE_INPUT, dims_input), .optional = true},
    {ROWS("grad_input", HEDDLE_OUTPUT, dims_input)},
};

static const heddle_operand weight_operands[] = {
    {ROWS("grad_output", HEDDLE_INPUT, dims_output)},
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("grad_weight", dims_parts)},
    {HEDDLE_FLOAT_OUTPUT("grad_bias", dims_bias_parts), .optional = true},
};

// Counters are zero before and after a call: blocks count themselves there, and the last one adds the sums of all. With
// these scales, sums fill a byte, and some do not fit.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    (void)seed;
    const conv_shape *shape = shape_;
    const double products = (double)shape->r * shape->s * shape->c;
    int dims[HEDDLE_MAX_DIMS];
    forward_operands[operand].dims(shape, dims);
    for (int i = 0; i < dims[0]; i++)
        values[i] = operand == SCALE ? (1 + 0.1 * (i % 7)) / (32 * sqrt(products)) : 0;
}

// --- the reference --------------------------------------------------------------------------------------------------

double heddle_rows_conv_sum(const conv_shape *shape, const double *rows, const double *weight, int row, int to)
{
    const int all = heddle_rows_conv_rows(shape), taps = shape->r * shape->s;
    double sum = 0;
    for (int tap = 0; tap < taps; tap++) {
        const int at = row + heddle_rows_conv_shift(shape, tap);
        for (int i = 0; at >= 0 && at < all && i < shape->c; i++)
            sum += rows[(size_t)at * shape->c + i] * weight[((size_t)to * taps + tap) * shape->c + i];
    }
    return sum;
}

// The same for the gradient of input row `row`, channel `from`.
static double sum_gradients(const conv_shape *shape, const double *grads, const double *weight, int row, int from)
{
    const int all = heddle_rows_conv_rows(shape), taps = shape->r * shape->s;
    double sum = 0;
    for (int tap = 0; tap < taps; tap++) {
        const int at = row - heddle_rows_conv_shift(shape, tap);
        for (int i = 0; at >= 0 && at < all && i < shape->k; i++)
            sum += grads[(size_t)at * shape->k + i] * weight[((size_t)i * taps + tap) * shape->c + from];
    }
    return sum;
}

static void add_result(double *sums, int k, int channel, double value)
{
    sums[channel] += value;
    sums[k + channel] += value * value;
}

static void forward_bytes(const conv_shape *shape, const double *const *input, double *output)
{
    for (int row = 0; row < heddle_rows_conv_rows(shape); row++)
        for (int to = 0; to < shape->k; to++) {
            const double value =
                heddle_rows_requantise(shape->function, heddle_rows_conv_sum(shape, input[0], input[1], row, to),
                                       input[SCALE] ? input[SCALE][to] : 1, input[2] ? input[2][to] : 0);
            output[(size_t)row * shape->k + to] = shape->zero_gaps && !heddle_rows_conv_holds(shape, row) ? 0 : value;
        }
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const conv_shape *shape = shape_;
    if (shape->int8) {
        forward_bytes(shape, input, output[0]);
        return;
    }
    if (output[1])
        memset(output[1], 0, 2 * (size_t)shape->k * sizeof *output[1]);
    for (int row = 0; row < heddle_rows_conv_rows(shape); row++)
        for (int to = 0; to < shape->k; to++) {
            double value = heddle_rows_conv_sum(shape, input[0], input[1], row, to) + (input[2] ? input[2][to] : 0);
            const int holds = heddle_rows_conv_holds(shape, row);
            value = shape->zero_gaps && !holds ? 0 : heddle_rows_activate(shape->function, value);
            output[0][(size_t)row * shape->k + to] = value;
            if (output[1] && holds)
                add_result(output[1], shape->k, to, value);
        }
}

// Logits have no gaps.
static void logits_reference(const void *shape_, const double *const *input, double *const *output)
{
    conv_shape shape = *(const conv_shape *)shape_;
    double *const without_sums[] = {output[0], NULL};
    shape.zero_gaps = 0;
    forward_reference(&shape, input, without_sums);
}

static void data_reference(const void *shape_, const double *const *input, double *const *output)
{
    const conv_shape *shape = shape_;
    const int pitch = shape->w + shape->gap;
    for (int row = 0; row < heddle_rows_conv_rows(shape); row++)
        for (int to = 0; to < shape->c; to++) {
            const size_t at = (size_t)row * shape->c + to;
            const int in_image = row % ((shape->h + shape->gap) * pitch);
            const int pixel = in_image / pitch < shape->h && in_image % pitch < shape->w;
            double value = sum_gradients(shape, input[0], input[1], row, to);
            value *= input[2] ? heddle_rows_slope(shape->function, input[2][at]) : 1;
            output[0][at] = shape->zero_gaps && !pixel ? 0 : value;
        }
}

static void weight_reference(const void *shape_, const double *const *input, double *const *output)
{
    const conv_shape *shape = shape_;
    const int all = heddle_rows_conv_rows(shape), taps = shape->r * shape->s, step = heddle_rows_conv_part_rows(shape);
    for (int part = 0; part < shape->parts; part++)
        for (int to = 0; to < shape->k; to++) {
            double *gradient = output[0] + (((size_t)part * shape->k + to) * taps) * shape->c, bias = 0;
            for (int i = 0; i < taps * shape->c; i++)
                gradient[i] = 0;
            for (int row = part * step; row < all && row < (part + 1) * step; row++) {
                const double grad = input[0][(size_t)row * shape->k + to];
                bias += grad;
                for (int tap = 0; tap < taps; tap++) {
                    const int at = row + heddle_rows_conv_shift(shape, tap);
                    for (int i = 0; at >= 0 && at < all && i < shape->c; i++)
                        gradient[tap * shape->c + i] += grad * input[1][(size_t)at * shape->c + i];
                }
            }
            if (output[1])
                output[1][(size_t)part * shape->k + to] = bias;
        }
}

// --- cost -----------------------------------------------------------------------------------------------------------

static double flops(const conv_shape *shape)
{
    return 2.0 * shape->n * heddle_rows_conv_out_h(shape) * heddle_rows_conv_out_w(shape) * shape->c * shape->k *
           shape->r * shape->s;
}

HEDDLE_REQUIRED_COST(forward_cost, forward_operands, conv_shape, flops(shape))
HEDDLE_REQUIRED_COST(logits_cost, logits_operands, conv_shape, flops(shape))
HEDDLE_REQUIRED_COST(data_cost, data_operands, conv_shape, flops(shape))
HEDDLE_REQUIRED_COST(weight_cost, weight_operands, conv_shape, flops(shape))

static int64_t forward_reduction(const void *shape_)
{
    const conv_shape *shape = shape_;
    const int64_t rows = heddle_rows_conv_rows(shape), product = (int64_t)shape->r * shape->s * shape->c;
    return rows > product ? rows : product; // of the sums, of an element
}

HEDDLE_OF_SHAPE(int64_t, product_reduction, conv_shape,
                (int64_t)shape->r * shape->s * (shape->c > shape->k ? shape->c : shape->k))
HEDDLE_OF_SHAPE(int64_t, weight_reduction, conv_shape, heddle_rows_conv_rows(shape))

// In every type that the gradients have, too.
#define FLOAT_SHAPES                                                                                                   \
    "n=1 c=8 k=8", "n=5 c=24 k=16 function=1 half=1", "n=67 c=200 k=104 function=2",                                   \
        "n=2 h=5 w=3 gap=1 c=8 k=16 r=3 s=3 padding=1 zero_gaps=1 half=1",                                             \
        "n=2 h=6 w=5 gap=1 c=40 k=72 r=3 s=3 padding=1", "n=2 h=7 w=8 c=16 k=8 r=3 s=3 function=3 half=1",             \
        "n=2 h=6 w=6 gap=2 c=72 k=8 r=5 s=5 padding=2 zero_gaps=1 function=1", "n=130 c=72 k=136 half=1",              \
        "n=5 c=24 k=16 function=2 pairs=1", "n=2 h=6 w=5 gap=1 c=40 k=72 r=3 s=3 padding=1 zero_gaps=1 pairs=1",       \
        "n=130 c=136 k=72 function=1 pairs=1", "n=3 h=11 w=9 gap=1 c=32 k=32 r=3 s=3 padding=1 zero_gaps=1",           \
        "n=2 h=13 w=12 gap=1 c=24 k=32 r=3 s=3 padding=1 half=1"
static const char *const float_shapes[] = {FLOAT_SHAPES, NULL};
static const char *const forward_shapes[] = {FLOAT_SHAPES,
                                             "n=1 c=16 k=16 int8=1",
                                             "n=67 c=208 k=112 function=1 int8=1",
                                             "n=2 h=6 w=5 gap=1 c=48 k=80 r=3 s=3 padding=1 zero_gaps=1 int8=1",
                                             "n=2 h=7 w=8 c=16 k=16 r=3 s=3 int8=1",
                                             "n=140 c=144 k=144 int8=1",
                                             NULL};
static const char *const weight_shapes[] = {"n=1 c=8 k=8",
                                            "n=5 c=24 k=16 half=1",
                                            "n=140 c=136 k=40 parts=2",
                                            "n=2 h=5 w=3 gap=1 c=8 k=16 r=3 s=3 padding=1 half=1",
                                            "n=3 h=7 w=6 gap=1 c=40 k=24 r=3 s=3 padding=1 parts=3",
                                            "n=2 h=7 w=8 c=16 k=8 r=3 s=3 half=1",
                                            "n=2 h=6 w=6 gap=2 c=72 k=8 r=5 s=5 padding=2",
                                            "n=130 c=72 k=136 parts=2 half=1",
                                            "n=5 c=24 k=16 pairs=1",
                                            "n=3 h=7 w=6 gap=1 c=40 k=24 r=3 s=3 padding=1 parts=3 pairs=1",
                                            "n=140 c=136 k=72 parts=2 pairs=1",
                                            "n=4 h=11 w=9 gap=1 c=32 k=32 r=3 s=3 padding=1 parts=2",
                                            "n=5 h=12 w=13 gap=1 c=24 k=16 r=3 s=3 padding=1 half=1",
                                            NULL};
// A VGG's convolutions, then a linear layer.
static const char *const bench_shapes[] = {"n=64 h=32 w=32 gap=1 c=64 k=64 r=3 s=3 padding=1 parts=66",
                                           "n=1024 h=32 w=32 gap=1 c=64 k=64 r=3 s=3 padding=1 parts=66",
                                           "n=1024 h=16 w=16 gap=1 c=128 k=128 r=3 s=3 padding=1 parts=16",
                                           "n=1024 h=32 w=32 gap=1 c=32 k=32 r=3 s=3 padding=1 parts=66",
                                           "n=1024 c=1024 k=1024",
                                           NULL};

// --- ladders --------------------------------------------------------------------------------------------------------

HEDDLE_BY_REFERENCE(rows_conv_forward)
HEDDLE_BY_REFERENCE(rows_conv_logits)
HEDDLE_BY_REFERENCE(rows_conv_backward_data)
HEDDLE_BY_REFERENCE(rows_conv_backward_weight)

// Room for the sums of blocks: two for each channel and block.
HEDDLE_WORKSPACE(wgmma_forward_workspace, conv_shape,
                 (size_t)HEDDLE_ROWS_MOST_GROUPS * 2 * (size_t)shape->k * sizeof(float))

#define HOPPER .capability = 90, .gpu_only = "wgmma and TMA"

HEDDLE_OF_SHAPE(bool, is_bytes, conv_shape, shape->int8)

static const heddle_rung forward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_conv_forward),
    {"cpu_int8", HEDDLE_CPU, HEDDLE_TUNED, heddle_rows_conv_forward_cpu_int8,
     "bytes: vectors along the channels, summed in int32; one piece of rows per thread", is_bytes, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per output element: every operand from memory", NULL,
     NULL},
    {"02_mma_int8", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "bytes on tensor cores by mma.sync: every tap loads its rows again", is_bytes, NULL, .capability = 80},
    {"02_wgmma", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "wgmma, with each tap reading the rows from another first row; the channels' sums in registers", NULL,
     wgmma_forward_workspace, HOPPER},
};

static const heddle_rung logits_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_conv_logits),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per output element: every operand from memory", NULL,
     NULL},
    {"02_wgmma", HEDDLE_CUDA, HEDDLE_FUSED, NULL, "wgmma, stored as float32", NULL, NULL, HOPPER},
};

static const heddle_rung data_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_conv_backward_data),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per output element: every operand from memory", NULL,
     NULL},
    {"02_wgmma", HEDDLE_CUDA, HEDDLE_FUSED, NULL, "the forward product with opposite shifts and transposed weights",
     NULL, NULL, HOPPER},
};

static const heddle_rung weight_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_conv_backward_weight),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element of the gradient: reads a column of rows",
     NULL, NULL},
    {"02_wgmma", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "wgmma over rows, three taps of a line at once; pairs of blocks add their sums", NULL, NULL, HOPPER},
};

#define ROWS_CONV(title, about)                                                                                        \
    .name = (title), .ladder_name = "rows_conv", .summary = (about), .shape_size = sizeof(conv_shape),                 \
    HEDDLE_FIELDS(fields), .element = element, .bench_shapes = bench_shapes

const heddle_op heddle_op_rows_conv_forward = {
    ROWS_CONV("rows_conv_forward", "convolution or linear layer over rows of bf16, with bias, function and sums"),
    .validate = heddle_rows_conv_validate,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .fill = fill,
    .test_shapes = forward_shapes,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_rows_conv_logits = {
    ROWS_CONV("rows_conv_logits", "the same with a float32 result"),
    .validate = validate_floats,
    HEDDLE_OPERANDS(logits_operands),
    .cost = logits_cost,
    .reference = logits_reference,
    .reduction = product_reduction,
    .test_shapes = float_shapes,
    HEDDLE_LADDER(logits_ladder),
};

const heddle_op heddle_op_rows_conv_backward_data = {
    ROWS_CONV("rows_conv_backward_data", "gradient of the input rows, through the function that made them"),
    .validate = validate_floats,
    HEDDLE_OPERANDS(data_operands),
    .cost = data_cost,
    .reference = data_reference,
    .reduction = product_reduction,
    .test_shapes = float_shapes,
    HEDDLE_LADDER(data_ladder),
};

const heddle_op heddle_op_rows_conv_backward_weight = {
    ROWS_CONV("rows_conv_backward_weight", "gradients of weight and bias, in parts of the rows"),
    .validate = validate_floats,
    HEDDLE_OPERANDS(weight_operands),
    .cost = weight_cost,
    .reference = weight_reference,
    .reduction = weight_reduction,
    .test_shapes = weight_shapes,
    HEDDLE_LADDER(weight_ladder),
};
