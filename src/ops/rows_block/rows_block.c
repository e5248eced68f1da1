// rows_block: a convolution of a network in use with what follows it, a function and pooling, from frame to frame of
// 16-bit rows. Its cost, reference and ladder.

#include "ops/rows_block/rows_block.h"

#include <math.h>

#include "ops/rows_define.h"

typedef heddle_rows_block_shape block_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(block_shape, n, "images")},
    {HEDDLE_REQUIRED_INT(block_shape, h, "lines of an image")},
    {HEDDLE_REQUIRED_INT(block_shape, w, "pixels of a line")},
    {HEDDLE_OPTIONAL_INT(block_shape, gap, 0, "lines below and pixels right of an image")},
    {HEDDLE_REQUIRED_INT(block_shape, c, "input channels, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(block_shape, k, "output channels, a multiple of 8")},
    {HEDDLE_OPTIONAL_INT(block_shape, r, 3, "lines of the filter")},
    {HEDDLE_OPTIONAL_INT(block_shape, s, 3, "pixels of a line of the filter")},
    {HEDDLE_OPTIONAL_INT(block_shape, padding, 0, "zeros around an image")},
    {HEDDLE_OPTIONAL_INT(block_shape, function, 0, "0: none, 1: relu, 2: tanh, 3: sigmoid")},
    {HEDDLE_OPTIONAL_INT(block_shape, window, 2, "of the pooling; 1: none")},
    {HEDDLE_OPTIONAL_INT(block_shape, average, 0, "0: the largest of a window, 1: the mean")},
    {HEDDLE_OPTIONAL_INT(block_shape, out_gap, 0, "lines below and pixels right of an output image")},
    {HEDDLE_ROWS_HALF(block_shape)},
};

HEDDLE_ROWS_ELEMENT(element, block_shape)

static heddle_status validate(const void *shape_)
{
    const block_shape *shape = shape_;
    if (shape->n < 1 || shape->h < 1 || shape->w < 1 || shape->c < 1 || shape->k < 1 || shape->r < 1 || shape->s < 1 ||
        shape->window < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_block: n, h, w, c, k, r, s and window must be at least 1");
    if (shape->c % HEDDLE_ROWS_ALIGNMENT || shape->k % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_block: c=%d and k=%d must be multiples of %d", shape->c, shape->k,
                           HEDDLE_ROWS_ALIGNMENT);
    if (shape->function >= HEDDLE_ROWS_FUNCTIONS || shape->average > 1)
        return heddle_fail(HEDDLE_INVALID, "rows_block: function=%d average=%d", shape->function, shape->average);
    if (heddle_rows_block_conv_h(shape) < shape->window || heddle_rows_block_conv_w(shape) < shape->window)
        return heddle_fail(HEDDLE_INVALID, "rows_block: filter or window are larger than the padded image");
    if (!heddle_rows_block_fits(shape))
        return heddle_fail(HEDDLE_INVALID, "rows_block: an image and %d filters need %.0f bytes; at most %d",
                           HEDDLE_ROWS_BLOCK_CHANNELS, heddle_rows_block_bytes(shape, 1),
                           HEDDLE_ROWS_BLOCK_SHARED_BYTES);
    if ((double)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap) * shape->c > 2e9 ||
        (double)shape->n * (shape->h + shape->out_gap) * (shape->w + shape->out_gap) * shape->k > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_block: more than 2e9 elements");
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_input, block_shape, heddle_rows_block_in_rows(shape), shape->c)
HEDDLE_DIMS(dims_weight, block_shape, shape->k, shape->r * shape->s, shape->c)
HEDDLE_DIMS(dims_bias, block_shape, shape->k)
HEDDLE_DIMS(dims_output, block_shape, heddle_rows_block_out_rows(shape), shape->k)

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_NORMAL, size)

static const heddle_operand operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_bias), .optional = true},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_BF16, .dims = dims_output},
};

static heddle_cost cost(const void *shape_)
{
    const block_shape *shape = shape_;
    const double results = (double)shape->n * heddle_rows_block_conv_h(shape) * heddle_rows_block_conv_w(shape);
    return (heddle_cost){
        .flops = 2 * results * shape->k * shape->c * shape->r * shape->s,
        .bytes_read = sizeof(uint16_t) * ((double)heddle_rows_block_in_rows(shape) * shape->c +
                                          (double)shape->k * shape->c * shape->r * shape->s),
        .bytes_written = sizeof(uint16_t) * (double)heddle_rows_block_out_rows(shape) * shape->k,
    };
}

// What the convolution gives at a place of an image, the function applied.
static double value_at(const block_shape *shape, const double *image, const double *weight, double bias, int y, int x)
{
    double sum = bias;
    for (int tap = 0; tap < shape->r * shape->s; tap++) {
        const int line = y + tap / shape->s - shape->padding, pixel = x + tap % shape->s - shape->padding;
        const bool inside = line >= 0 && line < shape->h && pixel >= 0 && pixel < shape->w;
        for (int c = 0; inside && c < shape->c; c++)
            sum += image[((size_t)line * (shape->w + shape->gap) + pixel) * shape->c + c] *
                   weight[(size_t)tap * shape->c + c];
    }
    return heddle_rows_activate(shape->function, sum);
}

static double pool_at(const block_shape *shape, const double *image, const double *weight, double bias, int y, int x)
{
    const int window = shape->window;
    double sum = 0, most = -INFINITY;
    for (int i = 0; i < window * window; i++) {
        const double value = value_at(shape, image, weight, bias, y * window + i / window, x * window + i % window);
        sum += value;
        most = value > most ? value : most;
    }
    return shape->average ? sum / (window * window) : most;
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    const int h = heddle_rows_block_conv_h(shape) / shape->window, w = heddle_rows_block_conv_w(shape) / shape->window;
    const int pitch = w + shape->out_gap, rows = (h + shape->out_gap) * pitch;
    const size_t image_elements = (size_t)(shape->h + shape->gap) * (shape->w + shape->gap) * shape->c;
    const size_t filter = (size_t)shape->r * shape->s * shape->c;
    for (int row = 0; row < shape->n * rows; row++) {
        const double *image = input[0] + (size_t)(row / rows) * image_elements;
        const int y = row % rows / pitch, x = row % pitch;
        for (int k = 0; k < shape->k; k++)
            output[0][(size_t)row * shape->k + k] =
                y < h && x < w ? pool_at(shape, image, input[1] + (size_t)k * filter, input[2] ? input[2][k] : 0, y, x)
                               : 0;
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, block_shape, (int64_t)shape->c * shape->r * shape->s)

static const char *const test_shapes[] = {"n=1 h=2 w=2 c=8 k=8 r=1 s=1 window=1",
                                          "n=3 h=6 w=6 gap=1 c=32 k=64 padding=1 function=1 out_gap=1 half=1",
                                          "n=2 h=7 w=5 gap=1 c=24 k=72 padding=1 function=1",
                                          "n=2 h=8 w=8 c=16 k=16 r=5 s=5 function=2 average=1 half=1",
                                          "n=2 h=5 w=6 gap=2 c=16 k=8 padding=2 window=1 function=3 out_gap=2",
                                          "n=1 h=9 w=9 gap=1 c=8 k=136 padding=1 window=3",
                                          NULL};
static const char *const bench_shapes[] = {"n=1024 h=14 w=14 gap=1 c=32 k=64 padding=1 function=1",
                                           "n=1024 h=14 w=14 gap=1 c=48 k=96 padding=1 function=1",
                                           "n=1 h=14 w=14 gap=1 c=32 k=64 padding=1 function=1", NULL};

HEDDLE_BY_REFERENCE(rows_block)

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_block),
    {"01_image_in_shared", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "one block per image and 64 channels, both in shared memory: limited by shared memory's bandwidth", NULL, NULL,
     .capability = 80, .shared_bytes = HEDDLE_ROWS_BLOCK_SHARED_BYTES},
};

const heddle_op heddle_op_rows_block = {
    .name = "rows_block",
    .ladder_name = "rows_block",
    .summary = "convolution, function and pooling over rows of bf16",
    .shape_size = sizeof(block_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .element = element,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
