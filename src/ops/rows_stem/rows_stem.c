// rows_stem: the first layer of a network in use, from bytes to a frame of 16-bit rows. Its cost, reference and ladder.

#include "ops/rows_stem/rows_stem.h"

#include <math.h>

#include "ops/rows_define.h"

typedef heddle_rows_stem_shape stem_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(stem_shape, n, "samples in the batch")},
    {HEDDLE_REQUIRED_INT(stem_shape, count, "samples in the dataset")},
    {HEDDLE_REQUIRED_INT(stem_shape, length, "length of the order; cursor + n is at most that")},
    {HEDDLE_REQUIRED_INT(stem_shape, c, "channels of an image")},
    {HEDDLE_REQUIRED_INT(stem_shape, h, "its lines")},
    {HEDDLE_REQUIRED_INT(stem_shape, w, "pixels of a line")},
    {HEDDLE_REQUIRED_INT(stem_shape, r, "lines of the filter")},
    {HEDDLE_REQUIRED_INT(stem_shape, s, "pixels of a line of the filter")},
    {HEDDLE_OPTIONAL_INT(stem_shape, stride, 1, "stride of the filter")},
    {HEDDLE_OPTIONAL_INT(stem_shape, padding, 0, "zeros around an image")},
    {HEDDLE_OPTIONAL_INT(stem_shape, dilation, 1, "distance between the filter's taps")},
    {HEDDLE_REQUIRED_INT(stem_shape, columns, "of the weight: c * r * s, padded to a multiple of 16")},
    {HEDDLE_REQUIRED_INT(stem_shape, k, "output channels, a multiple of 8")},
    {HEDDLE_OPTIONAL_INT(stem_shape, function, 0, "0: none, 1: relu, 2: tanh, 3: sigmoid")},
    {HEDDLE_OPTIONAL_INT(stem_shape, window, 1, "of the pooling; 1: none")},
    {HEDDLE_OPTIONAL_INT(stem_shape, average, 0, "0: the largest of a window, 1: the mean")},
    {HEDDLE_OPTIONAL_INT(stem_shape, gap, 0, "lines below and pixels right of an output image")},
    {HEDDLE_ROWS_HALF(stem_shape)},
    {HEDDLE_ROWS_PAIRS(stem_shape)},
    {HEDDLE_OPTIONAL_INT(stem_shape, int8, 0, "1: the output is signed bytes")},
};

HEDDLE_ROWS_PAIRS_ELEMENT(element, stem_shape)
HEDDLE_OF_SHAPE(heddle_dtype, stored, stem_shape, shape->int8 ? HEDDLE_I8 : element(shape))

static heddle_status validate(const void *shape_)
{
    const stem_shape *shape = shape_;
    if (shape->n < 1 || shape->count < 1 || shape->length < shape->n)
        return heddle_fail(HEDDLE_INVALID, "rows_stem: an order of length=%d over count=%d has no batch of n=%d",
                           shape->length, shape->count, shape->n);
    if (shape->c < 1 || shape->h < 1 || shape->w < 1 || shape->r < 1 || shape->s < 1 || shape->stride < 1 ||
        shape->dilation < 1 || shape->window < 1 || shape->k < 1)
        return heddle_fail(HEDDLE_INVALID,
                           "rows_stem: c, h, w, r, s, stride, dilation, window and k must be at least 1");
    if (shape->columns % HEDDLE_ROWS_STEM_STEP || (double)shape->c * shape->r * shape->s > shape->columns)
        return heddle_fail(HEDDLE_INVALID, "rows_stem: columns=%d must be a multiple of %d and hold %d x %d x %d",
                           shape->columns, HEDDLE_ROWS_STEM_STEP, shape->c, shape->r, shape->s);
    if (shape->k % HEDDLE_ROWS_ALIGNMENT || shape->function >= HEDDLE_ROWS_FUNCTIONS || shape->average > 1)
        return heddle_fail(HEDDLE_INVALID, "rows_stem: k=%d must be a multiple of %d; function=%d average=%d", shape->k,
                           HEDDLE_ROWS_ALIGNMENT, shape->function, shape->average);
    if (shape->int8 && (!shape->half || shape->pairs))
        return heddle_fail(HEDDLE_INVALID, "rows_stem: half=%d pairs=%d: the weight of a result in bytes is fp16",
                           shape->half, shape->pairs);
    if (heddle_rows_stem_conv_h(shape) < shape->window || heddle_rows_stem_conv_w(shape) < shape->window)
        return heddle_fail(HEDDLE_INVALID, "rows_stem: filter or window are larger than the padded image");
    if (!heddle_rows_stem_fits(shape))
        return heddle_fail(HEDDLE_INVALID, "rows_stem: columns=%d, k=%d or the image are too large; at most %d, %d, %d",
                           shape->columns, shape->k, HEDDLE_ROWS_STEM_STEPS * HEDDLE_ROWS_STEM_STEP,
                           HEDDLE_ROWS_STEM_CHANNELS, HEDDLE_ROWS_STEM_ELEMENTS);
    if ((double)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap) * shape->k > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_stem: more than 2e9 elements");
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_dataset, stem_shape, shape->count, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_dataset_labels, stem_shape, shape->count)
HEDDLE_DIMS(dims_order, stem_shape, shape->length)
HEDDLE_DIMS(dims_cursor, stem_shape, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_weight, stem_shape, shape->k, shape->columns)
HEDDLE_DIMS(dims_bias, stem_shape, shape->k)
HEDDLE_DIMS(dims_output, stem_shape, heddle_rows_stem_rows(shape), shape->k)
HEDDLE_DIMS(dims_labels, stem_shape, shape->n)

static int limit_labels(const void *shape)
{
    (void)shape;
    return 1000; // any number works: labels are copied
}

HEDDLE_OF_SHAPE(int, limit_order, stem_shape, shape->count)

static const heddle_operand operands[] = {
    {"dataset", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_dataset},
    {"dataset_labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_dataset_labels, limit_labels},
    {"order", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_order, limit_order},
    {"cursor", HEDDLE_INPUT, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor},
    {HEDDLE_ROWS_OPERAND("weight", HEDDLE_INPUT, HEDDLE_VALUES_OWN, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_bias), .optional = true},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_BF16, .dims = dims_output, .stored = stored},
    {.name = "labels", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_labels},
};
enum { CURSOR = 3 };

// The cursor: the last batch that fits, after some steps. The weight: between -1 and 1, zeros in columns that are
// padded.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const stem_shape *shape = shape_;
    if (operand == CURSOR) {
        values[0] = shape->length - shape->n;
        values[1] = (double)(seed % 7);
        return;
    }
    for (int i = 0; i < shape->k * shape->columns; i++) {
        const uint64_t mixed = ((uint64_t)i + seed) * 0x9e3779b97f4a7c15u;
        values[i] =
            i % shape->columns < shape->c * shape->r * shape->s ? (double)(mixed >> 40) / (double)(1 << 24) * 2 - 1 : 0;
    }
}

static double products(const stem_shape *shape)
{
    return (double)shape->n * heddle_rows_stem_conv_h(shape) * heddle_rows_stem_conv_w(shape) * shape->k * shape->c *
           shape->r * shape->s;
}

static heddle_cost cost(const void *shape_)
{
    const stem_shape *shape = shape_;
    return (heddle_cost){.flops = 2 * products(shape),
                         .bytes_read = (double)shape->n * shape->c * shape->h * shape->w,
                         .bytes_written =
                             (double)heddle_dtype_size(stored(shape)) * heddle_rows_stem_rows(shape) * shape->k};
}

// What the convolution gives at a place, the function applied.
static double value_at(const stem_shape *shape, const double *image, const double *weight, double bias, int y, int x)
{
    double sum = bias;
    for (int i = 0; i < shape->c * shape->r * shape->s; i++) {
        const int s = i % shape->s, r = i / shape->s % shape->r, c = i / shape->s / shape->r;
        const int line = y * shape->stride + r * shape->dilation - shape->padding;
        const int pixel = x * shape->stride + s * shape->dilation - shape->padding;
        if (line >= 0 && line < shape->h && pixel >= 0 && pixel < shape->w)
            sum += image[((size_t)c * shape->h + line) * shape->w + pixel] / 255 * weight[i];
    }
    return heddle_rows_activate(shape->function, sum);
}

static double pool_at(const stem_shape *shape, const double *image, const double *weight, double bias, int y, int x)
{
    const int window = shape->window;
    double sum = 0, most = -INFINITY;
    for (int i = 0; i < window * window; i++) {
        const double value = value_at(shape, image, weight, bias, y * window + i / window, x * window + i % window);
        sum += value;
        most = value > most ? value : most;
    }
    const double pooled = shape->average ? sum / (window * window) : most;
    return shape->int8 ? heddle_rows_byte(shape->function, pooled) : pooled;
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const stem_shape *shape = shape_;
    const int h = heddle_rows_stem_conv_h(shape) / shape->window, w = heddle_rows_stem_conv_w(shape) / shape->window;
    const int pitch = w + shape->gap, rows = (h + shape->gap) * pitch;
    for (int row = 0; row < shape->n * rows; row++) {
        const int image = row / rows, y = row % rows / pitch, x = row % pitch;
        const size_t from = (size_t)input[2][(size_t)input[CURSOR][0] + image];
        const double *pixels = input[0] + from * (size_t)(shape->c * shape->h * shape->w);
        output[1][image] = input[1][from];
        for (int k = 0; k < shape->k; k++)
            output[0][(size_t)row * shape->k + k] =
                y < h && x < w
                    ? pool_at(shape, pixels, input[4] + (size_t)k * shape->columns, input[5] ? input[5][k] : 0, y, x)
                    : 0;
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, stem_shape, (int64_t)shape->c * shape->r * shape->s)

static const char *const test_shapes[] = {
    "n=1 count=1 length=1 c=1 h=3 w=3 r=1 s=1 columns=16 k=8",
    "n=3 count=5 length=9 c=1 h=8 w=8 r=3 s=3 padding=1 columns=16 k=32 function=1 window=2 gap=1 half=1",
    "n=2 count=3 length=4 c=3 h=7 w=6 r=3 s=3 padding=1 columns=32 k=40 function=1 gap=1",
    "n=2 count=2 length=2 c=1 h=12 w=12 r=5 s=5 padding=2 columns=32 k=8 function=2 window=2 average=1 half=1",
    "n=2 count=4 length=4 c=2 h=9 w=11 r=3 s=3 stride=2 dilation=2 padding=1 columns=32 k=16 function=3",
    "n=1 count=2 length=3 c=1 h=11 w=9 r=2 s=2 columns=16 k=72 window=3 gap=2",
    "n=1 count=2 length=2 c=1 h=19 w=20 r=3 s=3 padding=1 columns=16 k=8 gap=1",
    "n=1 count=1 length=1 c=3 h=8 w=8 r=5 s=5 columns=80 k=104 function=1 window=2 half=1",
    "n=2 count=3 length=3 c=1 h=8 w=12 r=3 s=3 padding=1 columns=16 k=40 function=1 window=2 gap=1 pairs=1",
    "n=2 count=2 length=2 c=3 h=6 w=7 r=3 s=3 padding=1 columns=32 k=16 function=2 gap=1 pairs=1",
    "n=2 count=2 length=2 c=1 h=9 w=9 r=2 s=3 columns=16 k=8 window=3 average=1 pairs=1",
    "n=2 count=3 length=3 c=1 h=8 w=8 r=3 s=3 padding=1 columns=16 k=48 function=3 window=2 average=1 gap=1 half=1",
    NULL};
static const char *const bench_shapes[] = {
    "n=1024 count=1024 length=1024 c=1 h=28 w=28 r=3 s=3 padding=1 columns=16 k=32 function=1 window=2 gap=1",
    "n=1024 count=1024 length=1024 c=3 h=32 w=32 r=3 s=3 padding=1 columns=32 k=64 function=1 gap=1",
    "n=1024 count=1024 length=1024 c=1 h=28 w=28 r=5 s=5 padding=2 columns=32 k=8 function=2 window=2 average=1",
    "n=1024 count=1024 length=1024 c=1 h=28 w=28 r=3 s=3 padding=1 columns=16 k=32 function=1 window=2 gap=1 pairs=1",
    NULL};

HEDDLE_BY_REFERENCE(rows_stem)

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_stem),
    {"01_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "one block per image, from bytes to pooled rows: limited by loads from shared memory", NULL, NULL,
     .capability = 90},
};

const heddle_op heddle_op_rows_stem = {
    .name = "rows_stem",
    .ladder_name = "rows_stem",
    .summary = "convolution, function and pooling from bytes to rows of bf16",
    .shape_size = sizeof(stem_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .element = element,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
