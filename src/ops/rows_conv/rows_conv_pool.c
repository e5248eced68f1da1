// rows_conv_pool: a convolution over rows with its bias, function and pooling, for inference. Its cost, reference and
// ladder.

#include <math.h>

#include "ops/rows_conv/rows_conv.h"
#include "ops/rows_define.h"

typedef heddle_rows_conv_shape conv_shape;

enum {
    MOST_WINDOW = 4,        // beyond it, few threads would have all the work
    MOST_COLUMNS = 9 * 128, // of a sum: beyond it, tiles of pooled rows leave too little memory for weights
    LARGEST_TILE = 224,     // rows
    LARGEST_PAIRS = 128,    // the same of pairs
    JOINED_PAIRS = 32,      // channels of pairs whose tiles are as large as others
    USED = 2,
    TILED = 3, // of three rows of the tiles, at least two are of the frame
};

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
    {HEDDLE_OPTIONAL_INT(conv_shape, window, 1, "of the pooling; 1: none")},
    {HEDDLE_OPTIONAL_INT(conv_shape, average, 0, "0: the largest of a window, 1: the mean")},
    {HEDDLE_OPTIONAL_INT(conv_shape, next_gap, 0, "lines below and pixels right of an output image")},
    {HEDDLE_OPTIONAL_INT(conv_shape, flat, 0, "1: a row of the output is a whole image")},
    {HEDDLE_ROWS_HALF(conv_shape)},
    {HEDDLE_ROWS_PAIRS(conv_shape)},
    {HEDDLE_ROWS_INT8(conv_shape)},
};

HEDDLE_ROWS_ANY_ELEMENT(element, conv_shape)

static heddle_status validate(const void *shape_)
{
    conv_shape shape = *(const conv_shape *)shape_;
    shape.parts = 1;
    HEDDLE_TRY(heddle_rows_conv_validate(&shape));
    if (shape.window < 1 || shape.window > heddle_rows_conv_out_h(&shape) ||
        shape.window > heddle_rows_conv_out_w(&shape))
        return heddle_fail(HEDDLE_INVALID, "rows_conv_pool: a window of %d in images of %d x %d", shape.window,
                           heddle_rows_conv_out_h(&shape), heddle_rows_conv_out_w(&shape));
    if (shape.average > 1 || shape.flat > 1 || shape.next_gap < 0 || (shape.flat && shape.next_gap))
        return heddle_fail(HEDDLE_INVALID,
                           "rows_conv_pool: average=%d flat=%d next_gap=%d: images without a gap can be rows",
                           shape.average, shape.flat, shape.next_gap);
    if ((double)shape.n * (shape.h + shape.next_gap) * ((double)shape.w + shape.next_gap) * shape.k > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_conv_pool: more than 2e9 elements of output, with a gap of %d",
                           shape.next_gap);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_input, conv_shape, heddle_rows_conv_rows(shape), shape->c)
HEDDLE_DIMS(dims_weight, conv_shape, shape->k, shape->r * shape->s, shape->c)
HEDDLE_DIMS(dims_bias, conv_shape, shape->k)
HEDDLE_DIMS(dims_scale, conv_shape, shape->int8 ? shape->k : 0)
HEDDLE_DIMS(dims_output, conv_shape, shape->n *(shape->flat ? 1 : heddle_rows_conv_pool_rows(shape)),
            shape->k *(shape->flat ? heddle_rows_conv_pool_rows(shape) : 1))

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_NORMAL, size)

static const heddle_operand operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_bias), .optional = true},
    {HEDDLE_FLOAT_INPUT("scale", HEDDLE_VALUES_OWN, dims_scale), .optional = true},
    {ROWS("output", HEDDLE_OUTPUT, dims_output)},
};
enum { BIAS = 2, SCALE = 3 };

// With these scales, sums fill a byte, and some do not fit.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    (void)operand;
    (void)seed;
    const conv_shape *shape = shape_;
    for (int i = 0; shape->int8 && i < shape->k; i++)
        values[i] = (1 + 0.1 * (i % 7)) / (32 * sqrt((double)shape->r * shape->s * shape->c));
}

static double result_of(const conv_shape *shape, const double *const *input, int row, int to)
{
    const double sum = heddle_rows_conv_sum(shape, input[0], input[1], row, to),
                 bias = input[BIAS] ? input[BIAS][to] : 0;
    return shape->int8 ? heddle_rows_requantise(shape->function, sum, input[SCALE] ? input[SCALE][to] : 1, bias)
                       : heddle_rows_activate(shape->function, sum + bias);
}

// `row`: of the first result of a window.
static double pool_at(const conv_shape *shape, const double *const *input, int row, int to)
{
    const int window = shape->window, pitch = shape->w + shape->gap;
    double sum = 0, most = -INFINITY;
    for (int i = 0; i < window * window; i++) {
        const double value = result_of(shape, input, row + i / window * pitch + i % window, to);
        sum += value;
        most = value > most || isnan(value) ? value : most;
    }
    const double mean = sum / (window * window);
    return !shape->average ? most : shape->int8 ? heddle_rows_byte(HEDDLE_ROWS_IDENTITY, mean) : mean;
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const conv_shape *shape = shape_;
    const int h = heddle_rows_conv_pool_h(shape), w = heddle_rows_conv_pool_w(shape), pitch = w + shape->next_gap;
    const int rows = heddle_rows_conv_pool_rows(shape), line = shape->w + shape->gap;
    for (int row = 0; row < shape->n * rows; row++) {
        const int image = row / rows, y = row % rows / pitch, x = row % rows % pitch;
        const int first = image * (shape->h + shape->gap) * line + (y * line + x) * shape->window;
        for (int to = 0; to < shape->k; to++)
            output[0][(size_t)row * shape->k + to] = y < h && x < w ? pool_at(shape, input, first, to) : 0;
    }
}

HEDDLE_REQUIRED_COST(cost, operands, conv_shape,
                     2.0 * shape->n * heddle_rows_conv_out_h(shape) * heddle_rows_conv_out_w(shape) * shape->c *
                         shape->k * shape->r * shape->s)
HEDDLE_OF_SHAPE(int64_t, reduction, conv_shape, (int64_t)shape->r * shape->s * shape->c)

// Lines of one image or several images per tile, tiles of every size (lines of 34 and 66 pixels do not fit the smaller
// ones); gaps, lines that are left over.
static const char *const test_shapes[] = {
    "n=2 h=14 w=14 gap=1 c=32 k=64 r=3 s=3 padding=1 function=1 window=2",
    "n=1 h=2 w=34 gap=1 c=32 k=16 r=3 s=3 padding=1 function=1 window=2 next_gap=1",
    "n=1 h=4 w=66 gap=1 c=24 k=16 r=3 s=3 padding=1 function=1 window=2 next_gap=1 half=1",
    "n=7 h=6 w=5 gap=1 c=40 k=72 r=3 s=3 padding=1 function=1 window=2 next_gap=1 half=1",
    "n=1 h=28 w=28 c=16 k=32 function=1 window=2 next_gap=1 half=1",
    "n=1 h=20 w=22 gap=1 c=72 k=24 r=3 s=3 padding=1 function=2 window=2 average=1",
    "n=5 h=7 w=8 c=16 k=8 r=3 s=3 window=2 flat=1",
    "n=3 h=9 w=9 gap=2 c=8 k=16 r=3 s=3 padding=2 function=3 window=3 next_gap=2 half=1",
    "n=9 h=4 w=4 c=24 k=16 next_gap=1",
    "n=2 h=14 w=14 gap=1 c=32 k=64 r=3 s=3 padding=1 function=1 window=2 flat=1 pairs=1",
    "n=1 h=2 w=34 gap=1 c=32 k=16 r=3 s=3 padding=1 window=2 next_gap=1 pairs=1",
    "n=1 h=4 w=66 gap=1 c=32 k=16 r=3 s=3 padding=1 function=1 window=2 next_gap=1 pairs=1",
    "n=5 h=6 w=5 gap=1 c=40 k=72 r=3 s=3 padding=1 function=1 window=2 next_gap=1 pairs=1",
    "n=5 h=6 w=6 c=16 k=24 function=2 window=2 pairs=1",
    "n=1 h=28 w=28 c=16 k=32 window=4 average=1 next_gap=1 pairs=1",
    "n=2 h=14 w=14 gap=1 c=32 k=64 r=3 s=3 padding=1 function=1 window=2 int8=1",
    "n=1 h=4 w=66 gap=1 c=32 k=16 r=3 s=3 padding=1 function=1 window=2 next_gap=1 int8=1",
    "n=7 h=6 w=5 gap=1 c=48 k=80 r=3 s=3 padding=1 window=2 average=1 next_gap=1 int8=1",
    "n=1 h=20 w=22 gap=1 c=80 k=32 r=3 s=3 padding=1 function=1 window=2 next_gap=2 int8=1",
    NULL};
static const char *const bench_shapes[] = {
    "n=1024 h=14 w=14 gap=1 c=32 k=64 r=3 s=3 padding=1 function=1 window=2",
    "n=10000 h=14 w=14 gap=1 c=32 k=64 r=3 s=3 padding=1 function=1 window=2",
    "n=1024 h=14 w=14 gap=1 c=32 k=64 r=3 s=3 padding=1 function=1 window=2 flat=1 pairs=1",
    "n=1024 h=32 w=32 gap=1 c=64 k=64 r=3 s=3 padding=1 function=1 window=2 next_gap=1", NULL};

HEDDLE_BY_REFERENCE(rows_conv_pool)

// Windows, sums and images for which tiles with every window whole are worth it: most of their rows hold results.
static bool fits_tiles(const void *shape_)
{
    const conv_shape *shape = shape_;
    const bool joined = shape->c == JOINED_PAIRS && shape->function <= HEDDLE_ROWS_RELU;
    const int tile = shape->pairs && !joined ? LARGEST_PAIRS : LARGEST_TILE;
    heddle_rows_tiling tiling;
    // Results are rounded before they are pooled: a mean of 16-bit ones would have two roundings.
    if (shape->average && !shape->pairs && !shape->int8)
        return false;
    if (shape->window > MOST_WINDOW || shape->r * shape->s * shape->c > MOST_COLUMNS ||
        !heddle_rows_conv_pool_tile(shape, tile, &tiling))
        return false;
    const double image_rows = (double)heddle_rows_conv_rows(shape) / shape->n;
    return image_rows * tiling.images * TILED >= (double)tile * tiling.parts * USED;
}

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_conv_pool),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per pooled element: every operand from memory", NULL,
     NULL},
    {"02_wgmma", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "wgmma over whole images or groups of lines, pooled in shared memory: windows of up to 4, images that fill tiles",
     fits_tiles, NULL, .capability = 90, .gpu_only = "wgmma and TMA"},
};

const heddle_op heddle_op_rows_conv_pool = {
    .name = "rows_conv_pool",
    .ladder_name = "rows_conv",
    .summary = "convolution over rows with bias, function and pooling",
    .shape_size = sizeof(conv_shape),
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
