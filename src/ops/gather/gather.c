// gather: a batch from a dataset stored on the device as bytes, in the order of an epoch. Its cost, reference and
// ladder.

#include "ops/gather/gather.h"

#include "base/move.h"
#include "heddle/random.h"
#include "ops/define.h"

typedef heddle_gather_shape gather_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(gather_shape, n, "samples in the batch")},
    {HEDDLE_REQUIRED_INT(gather_shape, count, "samples in the dataset")},
    {HEDDLE_REQUIRED_INT(gather_shape, length, "length of the order; cursor + n is at most that")},
    {HEDDLE_REQUIRED_INT(gather_shape, pixels, "bytes of one sample")},
    {HEDDLE_OPTIONAL_INT(gather_shape, h, 0, "rows of an image that is shifted; 0: no shift")},
    {HEDDLE_OPTIONAL_INT(gather_shape, w, 0, "columns of an image that is shifted")},
};

static heddle_status validate(const void *shape_)
{
    const gather_shape *shape = shape_;
    if (shape->n < 0 || shape->pixels < 0 || shape->count < 1)
        return heddle_fail(HEDDLE_INVALID, "gather: n=%d pixels=%d count=%d: a dataset has at least one sample",
                           shape->n, shape->pixels, shape->count);
    if (shape->length < shape->n)
        return heddle_fail(HEDDLE_INVALID, "gather: an order of length=%d has no batch of n=%d", shape->length,
                           shape->n);
    if (shape->h < 0 || shape->w < 0 || !shape->h != !shape->w ||
        (shape->h && shape->pixels % ((int64_t)shape->h * shape->w) != 0))
        return heddle_fail(HEDDLE_INVALID, "gather: pixels=%d are not planes of h=%d by w=%d", shape->pixels, shape->h,
                           shape->w);
    return HEDDLE_OK;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_dataset, gather_shape, shape->count, shape->pixels)
HEDDLE_DIMS(dims_dataset_labels, gather_shape, shape->count)
HEDDLE_DIMS(dims_order, gather_shape, shape->length)
HEDDLE_DIMS(dims_cursor, void, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_moves, gather_shape, shape->length, HEDDLE_MOVE_COUNT)
HEDDLE_DIMS(dims_images, gather_shape, shape->n, shape->pixels)
HEDDLE_DIMS(dims_labels, gather_shape, shape->n)

static int limit_labels(const void *shape)
{
    (void)shape;
    return 1000; // any number works: labels are copied
}

HEDDLE_OF_SHAPE(int, limit_order, gather_shape, shape->count)

enum { CURSOR = 3, MOVES = 4 };

static const heddle_operand operands[] = {
    {"dataset", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_dataset},
    {"dataset_labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_dataset_labels, limit_labels},
    {"order", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_order, limit_order},
    {"cursor", HEDDLE_INPUT, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor},
    {"moves", HEDDLE_INPUT, HEDDLE_I8, HEDDLE_VALUES_OWN, dims_moves, .optional = true},
    {HEDDLE_FLOAT_OUTPUT("images", dims_images)},
    {.name = "labels", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_labels},
};

// The last batch that fits, after some steps; shifts by up to two pixels.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const gather_shape *shape = shape_;
    if (operand == CURSOR) {
        values[0] = shape->length - shape->n;
        values[1] = (double)(seed % 7);
        return;
    }
    heddle_random random = heddle_random_make(seed, 0);
    for (int64_t i = 0; i < (int64_t)shape->length * HEDDLE_MOVE_COUNT; i++)
        values[i] = i % HEDDLE_MOVE_COUNT == HEDDLE_MOVE_FLIP ? heddle_random_below(&random, 2)
                                                              : (double)heddle_random_below(&random, 5) - 2;
}

static heddle_cost cost(const void *shape_)
{
    const gather_shape *shape = shape_;
    double pixels = (double)shape->n * shape->pixels;
    return (heddle_cost){.flops = pixels,
                         .bytes_read = pixels + 2 * sizeof(int32_t) * (double)shape->n,
                         .bytes_written = sizeof(float) * pixels + sizeof(int32_t) * (double)shape->n};
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const gather_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++) {
        size_t row = (size_t)input[2][(size_t)input[3][0] + i];
        const double *moves = shape->w ? input[MOVES] : NULL;
        int8_t move[HEDDLE_MOVE_COUNT];
        for (int m = 0; m < HEDDLE_MOVE_COUNT && moves; m++)
            move[m] = (int8_t)moves[((size_t)input[CURSOR][0] + i) * HEDDLE_MOVE_COUNT + m];
        for (int p = 0; p < shape->pixels; p++) {
            int plane = moves ? shape->h * shape->w : 1, at = p % plane;
            int source = moves ? heddle_move_source(move, shape->h, shape->w, at / shape->w, at % shape->w) : 0;
            output[0][(size_t)i * shape->pixels + p] =
                source < 0 ? 0 : input[0][row * shape->pixels + p - at + source] / 255;
        }
        output[1][i] = input[1][row];
    }
}

static const char *const test_shapes[] = {"n=0 count=3 length=2 pixels=5",
                                          "n=1 count=1 length=1 pixels=1",
                                          "n=7 count=13 length=29 pixels=31",
                                          "n=3 count=5 length=3 pixels=784",
                                          "n=67 count=100 length=67 pixels=12",
                                          "n=5 count=9 length=64 pixels=0",
                                          "n=261 count=290 length=263 pixels=3",
                                          "n=5 count=9 length=8 pixels=60 h=4 w=5",
                                          "n=37 count=40 length=50 pixels=21 h=7 w=1",
                                          "n=1 count=1 length=3 pixels=3 h=1 w=1",
                                          NULL};
static const char *const bench_shapes[] = {"n=1024 count=60000 length=60000 pixels=784",
                                           "n=64 count=60000 length=60000 pixels=784", NULL};

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_gather_cpu_naive, "one thread, one pixel at a time", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per pixel, one byte per load", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "four pixels per thread: limited by memory bandwidth", NULL,
     NULL},
};

const heddle_op heddle_op_gather = {
    .name = "gather",
    .ladder_name = "gather",
    .summary = "images and labels of a batch, from a dataset of bytes on the device",
    .shape_size = sizeof(gather_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
