// rows_gather: the first layer's input as rows of bf16, straight from a dataset of bytes on the device: patches for a
// convolution, or whole images as features. Its cost, reference and ladder.

#include "ops/rows_gather/rows_gather.h"

#include "ops/rows_define.h"

typedef heddle_rows_gather_shape gather_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(gather_shape, n, "samples in the batch")},
    {HEDDLE_REQUIRED_INT(gather_shape, count, "samples in the dataset")},
    {HEDDLE_REQUIRED_INT(gather_shape, length, "length of the order; cursor + n is at most that")},
    {HEDDLE_REQUIRED_INT(gather_shape, c, "channels of an image")},
    {HEDDLE_REQUIRED_INT(gather_shape, h, "its lines")},
    {HEDDLE_REQUIRED_INT(gather_shape, w, "pixels of a line")},
    {HEDDLE_REQUIRED_INT(gather_shape, r, "lines of the filter")},
    {HEDDLE_REQUIRED_INT(gather_shape, s, "pixels of a line of the filter")},
    {HEDDLE_OPTIONAL_INT(gather_shape, stride, 1, "stride of the filter")},
    {HEDDLE_OPTIONAL_INT(gather_shape, padding, 0, "zeros around an image")},
    {HEDDLE_OPTIONAL_INT(gather_shape, dilation, 1, "distance between the filter's taps")},
    {HEDDLE_REQUIRED_INT(gather_shape, columns, "of a patch, padded to a multiple of 8")},
    {HEDDLE_ROWS_HALF(gather_shape)},
    {HEDDLE_ROWS_PAIRS(gather_shape)},
    {HEDDLE_ROWS_INT8(gather_shape)},
};

HEDDLE_ROWS_ANY_ELEMENT(element, gather_shape)

static heddle_status validate(const void *shape_)
{
    const gather_shape *shape = shape_;
    if (shape->n < 1 || shape->count < 1 || shape->length < shape->n)
        return heddle_fail(HEDDLE_INVALID, "rows_gather: an order of length=%d over count=%d has no batch of n=%d",
                           shape->length, shape->count, shape->n);
    if (shape->c < 1 || shape->h < 1 || shape->w < 1 || shape->r < 1 || shape->s < 1 || shape->stride < 1 ||
        shape->dilation < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_gather: c, h, w, r, s, stride and dilation must be at least 1");
    if (shape->columns % HEDDLE_ROWS_ALIGNMENT || (double)shape->c * shape->r * shape->s > shape->columns)
        return heddle_fail(HEDDLE_INVALID, "rows_gather: columns=%d must be a multiple of %d and hold %d x %d x %d",
                           shape->columns, HEDDLE_ROWS_ALIGNMENT, shape->c, shape->r, shape->s);
    if (heddle_rows_gather_out_h(shape) < 1 || heddle_rows_gather_out_w(shape) < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_gather: the filter is larger than the padded image");
    if ((double)shape->n * heddle_rows_gather_out_h(shape) * heddle_rows_gather_out_w(shape) * shape->columns > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_gather: more than 2e9 elements");
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_dataset, gather_shape, shape->count, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_dataset_labels, gather_shape, shape->count)
HEDDLE_DIMS(dims_order, gather_shape, shape->length)
HEDDLE_DIMS(dims_cursor, gather_shape, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_rows, gather_shape, shape->n *heddle_rows_gather_out_h(shape) * heddle_rows_gather_out_w(shape),
            shape->columns)
HEDDLE_DIMS(dims_labels, gather_shape, shape->n)

static int limit_labels(const void *shape)
{
    (void)shape;
    return 1000; // any number works: labels are copied
}

HEDDLE_OF_SHAPE(int, limit_order, gather_shape, shape->count)

static const heddle_operand operands[] = {
    {"dataset", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_dataset},
    {"dataset_labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_dataset_labels, limit_labels},
    {"order", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_order, limit_order},
    {"cursor", HEDDLE_INPUT, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_BF16, .dims = dims_rows},
    {.name = "labels", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_labels},
};

// The last batch that fits, after some steps.
static void fill_cursor(const void *shape_, int operand, uint64_t seed, double *values)
{
    (void)operand;
    const gather_shape *shape = shape_;
    values[0] = shape->length - shape->n;
    values[1] = (double)(seed % 7);
}

static double row_elements(const gather_shape *shape)
{
    return (double)shape->n * heddle_rows_gather_out_h(shape) * heddle_rows_gather_out_w(shape) * shape->columns;
}

static heddle_cost cost(const void *shape_)
{
    const gather_shape *shape = shape_;
    const double bytes = (double)heddle_dtype_size(element(shape));
    return (heddle_cost){.flops = row_elements(shape),
                         .bytes_read = (double)shape->n * shape->c * shape->h * shape->w,
                         .bytes_written = bytes * row_elements(shape)};
}

// What a row holds of a pixel. Of bytes, none is lost: `zero` of a byte is -128.
static double element_of(const gather_shape *shape, double pixel)
{
    return shape->int8 ? pixel - 128 : pixel / 255;
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const gather_shape *shape = shape_;
    const int out_h = heddle_rows_gather_out_h(shape), out_w = heddle_rows_gather_out_w(shape);
    for (size_t row = 0; row < (size_t)shape->n * out_h * out_w; row++) {
        const int x = (int)(row % out_w), y = (int)(row / out_w % out_h), image = (int)(row / out_w / out_h);
        const size_t from = (size_t)input[2][(size_t)input[3][0] + image];
        output[1][image] = input[1][from];
        for (int i = 0; i < shape->columns; i++) {
            const int s = i % shape->s, r = i / shape->s % shape->r, c = i / shape->s / shape->r;
            const int line = y * shape->stride + r * shape->dilation - shape->padding;
            const int pixel = x * shape->stride + s * shape->dilation - shape->padding;
            const int inside = c < shape->c && line >= 0 && line < shape->h && pixel >= 0 && pixel < shape->w;
            output[0][row * shape->columns + i] =
                element_of(shape, inside ? input[0][((from * shape->c + c) * shape->h + line) * shape->w + pixel] : 0);
        }
    }
}

static const char *const test_shapes[] = {"n=1 count=1 length=1 c=1 h=1 w=1 r=1 s=1 columns=8",
                                          "n=7 count=13 length=29 c=1 h=8 w=8 r=3 s=3 padding=1 columns=16 half=1",
                                          "n=3 count=5 length=3 c=3 h=6 w=5 r=3 s=3 padding=1 columns=32",
                                          "n=5 count=9 length=64 c=1 h=12 w=12 r=5 s=5 columns=32 half=1",
                                          "n=2 count=9 length=4 c=2 h=9 w=7 r=3 s=3 stride=2 columns=24",
                                          "n=9 count=9 length=9 c=1 h=5 w=7 r=5 s=7 columns=40 half=1",
                                          "n=1 count=1 length=1 c=1 h=1 w=1 r=1 s=1 columns=8 pairs=1",
                                          "n=3 count=5 length=3 c=3 h=6 w=5 r=3 s=3 padding=1 columns=32 pairs=1",
                                          "n=3 count=5 length=3 c=3 h=6 w=5 r=3 s=3 padding=1 columns=32 int8=1",
                                          "n=9 count=9 length=9 c=1 h=5 w=7 r=5 s=7 columns=48 int8=1",
                                          NULL};
static const char *const bench_shapes[] = {"n=1024 count=60000 length=60000 c=1 h=28 w=28 r=3 s=3 padding=1 columns=16",
                                           "n=1024 count=50000 length=50000 c=3 h=32 w=32 r=3 s=3 padding=1 columns=32",
                                           "n=1024 count=60000 length=60000 c=1 h=28 w=28 r=28 s=28 columns=784", NULL};

HEDDLE_BY_REFERENCE(rows_gather)

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_gather),
    {"01_vectorised", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "eight columns of a patch per thread: limited by write bandwidth", NULL, NULL, .capability = 90},
};

const heddle_op heddle_op_rows_gather = {
    .name = "rows_gather",
    .ladder_name = "rows_gather",
    .summary = "patches of a batch's images as rows of bf16, from a dataset of bytes",
    .shape_size = sizeof(gather_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .element = element,
    .cost = cost,
    .reference = reference,
    .fill = fill_cursor,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
