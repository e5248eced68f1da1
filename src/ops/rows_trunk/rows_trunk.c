// rows_trunk: the convolutions that a small network begins with, from a dataset of bytes to rows of features, and the
// gradients of their weights. Costs and ladders.

#include "ops/rows_trunk/rows_trunk.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/random.h"
#include "ops/rows_define.h"
#include "ops/rows_trunk/tensor_layout.h"

enum { MOST_SIDE = 128 }; // of an image, and channels of it are at most as many as a stage gives

#define STAGE_FIELD(member, number, value, text)                                                                       \
    .name = #member #number, .offset = offsetof(heddle_rows_trunk_shape, stage[(number)-1].member),                    \
    .kind = HEDDLE_FIELD_INT, .initial = (value), .note = (text)
#define STAGE_FIELDS(number, channels)                                                                                 \
    {STAGE_FIELD(k, number, channels, "channels that the stage gives; 0: no such stage")},                             \
        {STAGE_FIELD(r, number, 3, "side of its filter")},                                                             \
        {STAGE_FIELD(padding, number, 0, "zeros around its input")},                                                   \
        {STAGE_FIELD(function, number, 0, "0: none, 1: relu, 2: tanh, 3: sigmoid")},                                   \
        {STAGE_FIELD(window, number, 1, "side of a pooling window; 1: no pooling")},                                   \
    {                                                                                                                  \
        STAGE_FIELD(average, number, 0, "0: the largest of a window, 1: its mean")                                     \
    }

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_rows_trunk_shape, n, "samples in the batch")},
    {HEDDLE_REQUIRED_INT(heddle_rows_trunk_shape, count, "samples in the dataset")},
    {HEDDLE_REQUIRED_INT(heddle_rows_trunk_shape, length, "length of the order; cursor + n is at most that")},
    {HEDDLE_REQUIRED_INT(heddle_rows_trunk_shape, c, "channels of an image")},
    {HEDDLE_REQUIRED_INT(heddle_rows_trunk_shape, h, "its lines")},
    {HEDDLE_REQUIRED_INT(heddle_rows_trunk_shape, w, "pixels of a line")},
    STAGE_FIELDS(1, NAN),
    STAGE_FIELDS(2, 0),
    STAGE_FIELDS(3, 0),
    {HEDDLE_OPTIONAL_INT(heddle_rows_trunk_shape, parts, 1, "of the batch, whose gradients are summed separately")},
    {HEDDLE_ROWS_HALF(heddle_rows_trunk_shape)},
    {HEDDLE_ROWS_PAIRS(heddle_rows_trunk_shape)},
    {HEDDLE_ROWS_INT8(heddle_rows_trunk_shape)},
};

HEDDLE_ROWS_ANY_ELEMENT(element, heddle_rows_trunk_shape)

static heddle_status validate_stage(const heddle_rows_trunk_shape *shape, int index)
{
    const heddle_rows_trunk_stage *stage = &shape->stage[index];
    if (stage->k > HEDDLE_ROWS_TRUNK_CHANNELS || stage->r < 1 || stage->r > HEDDLE_ROWS_TRUNK_FILTER)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: stage %d has k=%d r=%d; at most %d channels and a filter of %d",
                           index + 1, stage->k, stage->r, HEDDLE_ROWS_TRUNK_CHANNELS, HEDDLE_ROWS_TRUNK_FILTER);
    if (stage->padding >= stage->r)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: stage %d has padding=%d, which must be below r=%d", index + 1,
                           stage->padding, stage->r);
    if (stage->function >= HEDDLE_ROWS_FUNCTIONS || stage->window < 1 || stage->average > 1)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: stage %d has function=%d window=%d average=%d", index + 1,
                           stage->function, stage->window, stage->average);
    const heddle_trunk_size size = heddle_trunk_size_of(shape, index);
    if (size.out_h < 1 || size.out_w < 1 || size.next_h < 1 || size.next_w < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: nothing is left of an image after stage %d", index + 1);
    return HEDDLE_OK;
}

static heddle_status validate(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    const int stages = heddle_trunk_stages(shape);
    if (shape->n < 1 || shape->count < 1 || shape->length < shape->n)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: an order of length=%d over count=%d has no batch of n=%d",
                           shape->length, shape->count, shape->n);
    if (shape->c < 1 || shape->h < 1 || shape->w < 1 || shape->c > HEDDLE_ROWS_TRUNK_CHANNELS || shape->h > MOST_SIDE ||
        shape->w > MOST_SIDE)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: images of %d x %d x %d; the largest are %d x %d x %d", shape->c,
                           shape->h, shape->w, HEDDLE_ROWS_TRUNK_CHANNELS, MOST_SIDE, MOST_SIDE);
    if (shape->stage[0].k < 1 || shape->parts < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: k1=%d and parts=%d must be at least 1", shape->stage[0].k,
                           shape->parts);
    for (int i = 0; i < stages; i++)
        HEDDLE_TRY(validate_stage(shape, i));
    if ((double)shape->n * heddle_trunk_kept(shape) > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_trunk: more than 2e9 activations");
    return HEDDLE_OK;
}

// The gradient has no kernels for bytes.
static heddle_status validate_floats(const void *shape)
{
    HEDDLE_TRY(validate(shape));
    return heddle_rows_is_floats("rows_trunk_backward", ((const heddle_rows_trunk_shape *)shape)->int8);
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_dataset, heddle_rows_trunk_shape, shape->count, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_dataset_labels, heddle_rows_trunk_shape, shape->count)
HEDDLE_DIMS(dims_order, heddle_rows_trunk_shape, shape->length)
HEDDLE_DIMS(dims_cursor, heddle_rows_trunk_shape, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_labels, heddle_rows_trunk_shape, shape->n)
HEDDLE_DIMS(dims_rows, heddle_rows_trunk_shape, shape->n, heddle_trunk_columns(shape))
HEDDLE_DIMS(dims_activations, heddle_rows_trunk_shape, shape->n, heddle_trunk_kept(shape))
HEDDLE_DIMS(dims_arrived, heddle_rows_trunk_shape, shape->parts)

// Nothing for a stage that is not there.
static int channels_of(const heddle_rows_trunk_shape *shape, int index)
{
    return index < heddle_trunk_stages(shape) ? shape->stage[index].k : 0;
}

#define STAGE_DIMS(number)                                                                                             \
    HEDDLE_DIMS(dims_weight##number, heddle_rows_trunk_shape, channels_of(shape, (number)-1),                          \
                (number) > 1 ? shape->stage[(number) > 1 ? (number)-2 : 0].k : shape->c, shape->stage[(number)-1].r,   \
                shape->stage[(number)-1].r)                                                                            \
    HEDDLE_DIMS(dims_bias##number, heddle_rows_trunk_shape, channels_of(shape, (number)-1))                            \
    HEDDLE_DIMS(dims_weight_parts##number, heddle_rows_trunk_shape, shape->parts, channels_of(shape, (number)-1),      \
                (number) > 1 ? shape->stage[(number) > 1 ? (number)-2 : 0].k : shape->c, shape->stage[(number)-1].r,   \
                shape->stage[(number)-1].r)                                                                            \
    HEDDLE_DIMS(dims_bias_parts##number, heddle_rows_trunk_shape, shape->parts, channels_of(shape, (number)-1))
STAGE_DIMS(1)
STAGE_DIMS(2)
STAGE_DIMS(3)

static int limit_labels(const void *shape)
{
    (void)shape;
    return 1000; // any number works: labels are copied
}

HEDDLE_OF_SHAPE(int, limit_order, heddle_rows_trunk_shape, shape->count)

#define IMAGES                                                                                                         \
    {"dataset", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_dataset},                                           \
        {"order", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_order, limit_order},                            \
    {                                                                                                                  \
        "cursor", HEDDLE_INPUT, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor                                             \
    }
#define WEIGHT(number)                                                                                                 \
    {                                                                                                                  \
        HEDDLE_FLOAT_INPUT("weight" #number, HEDDLE_VALUES_OWN, dims_weight##number)                                   \
    }
#define BIAS(number)                                                                                                   \
    {                                                                                                                  \
        HEDDLE_FLOAT_INPUT("bias" #number, HEDDLE_VALUES_NORMAL, dims_bias##number), .optional = true                  \
    }
#define GRADIENTS(number)                                                                                              \
    {HEDDLE_FLOAT_OUTPUT("grad_weight" #number, dims_weight_parts##number)},                                           \
    {                                                                                                                  \
        HEDDLE_FLOAT_OUTPUT("grad_bias" #number, dims_bias_parts##number), .optional = true                            \
    }

static const heddle_operand forward_operands[] = {
    IMAGES,
    {"dataset_labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_dataset_labels, limit_labels},
    WEIGHT(1),
    BIAS(1),
    WEIGHT(2),
    BIAS(2),
    WEIGHT(3),
    BIAS(3),
    {HEDDLE_ROWS_OPERAND("output", HEDDLE_OUTPUT, HEDDLE_VALUES_NORMAL, dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("activations", dims_activations)},
    {.name = "labels", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_labels},
};

static const heddle_operand backward_operands[] = {
    IMAGES,
    {HEDDLE_ROWS_OPERAND("grad_output", HEDDLE_INPUT, HEDDLE_VALUES_NORMAL, dims_rows)},
    {HEDDLE_FLOAT_INPUT("activations", HEDDLE_VALUES_NORMAL, dims_activations)},
    WEIGHT(2),
    WEIGHT(3),
    GRADIENTS(1),
    GRADIENTS(2),
    GRADIENTS(3),
    {HEDDLE_ROWS_ARRIVED(dims_arrived)},
};

// The last batch that fits, after some steps.
static void fill_cursor(const heddle_rows_trunk_shape *shape, uint64_t seed, double *values)
{
    values[0] = shape->length - shape->n;
    values[1] = (double)(seed % 7);
}

// As a network begins: results have about the variance of the input, and functions are not saturated.
static void fill_weight(const heddle_rows_trunk_shape *shape, int index, uint64_t seed, double *values)
{
    const int elements = index < heddle_trunk_stages(shape) ? heddle_trunk_weights(shape, index) : 0;
    heddle_random random = heddle_random_make(seed, (uint64_t)index);
    for (int i = 0; i < elements; i++)
        values[i] = heddle_random_normal(&random) / sqrt((double)elements / shape->stage[index].k);
}

static void fill_forward(const void *shape, int operand, uint64_t seed, double *values)
{
    if (operand == HEDDLE_TRUNK_CURSOR)
        fill_cursor(shape, seed, values);
    else
        fill_weight(shape, (operand - HEDDLE_TRUNK_FIRST_WEIGHT) / 2, seed, values);
}

static void fill_backward(const void *shape_, int operand, uint64_t seed, double *values)
{
    const heddle_rows_trunk_shape *shape = shape_;
    if (operand == HEDDLE_TRUNK_CURSOR)
        fill_cursor(shape, seed, values);
    else if (operand < HEDDLE_TRUNK_SECOND_WEIGHT + HEDDLE_ROWS_TRUNK_STAGES - 1)
        fill_weight(shape, operand - HEDDLE_TRUNK_SECOND_WEIGHT + 1, seed, values);
    else
        memset(values, 0, (size_t)shape->parts * sizeof *values); // no block has arrived
}

// --- cost -----------------------------------------------------------------------------------------------------------

// Multiply-adds of one image: forward, or of all gradients.
static double products(const heddle_rows_trunk_shape *shape, bool is_backward)
{
    double sum = 0;
    for (int i = 0; i < heddle_trunk_stages(shape); i++) {
        const heddle_trunk_size size = heddle_trunk_size_of(shape, i);
        sum += (double)heddle_trunk_weights(shape, i) * size.out_h * size.out_w * (is_backward && i > 0 ? 2 : 1);
    }
    return sum;
}

static heddle_cost cost_of(const heddle_rows_trunk_shape *shape, bool is_backward)
{
    const double kept = sizeof(float) * (double)shape->n * heddle_trunk_kept(shape);
    const double rows = (double)heddle_dtype_size(element(shape)) * shape->n * heddle_trunk_columns(shape);
    const double images = (double)shape->n * shape->c * shape->h * shape->w;
    return (heddle_cost){.flops = 2 * shape->n * products(shape, is_backward),
                         .bytes_read = images + (is_backward ? kept + rows : 0),
                         .bytes_written = is_backward ? 0 : kept + rows};
}

static heddle_cost forward_cost(const void *shape)
{
    return cost_of(shape, false);
}

static heddle_cost backward_cost(const void *shape)
{
    return cost_of(shape, true);
}

// Of all stages: roundings of one are in the sums of the next.
static int64_t forward_reduction(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    int64_t sum = 0;
    for (int i = 0; i < heddle_trunk_stages(shape); i++)
        sum += heddle_trunk_weights(shape, i) / shape->stage[i].k;
    return sum;
}

static int64_t backward_reduction(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    const heddle_trunk_size first = heddle_trunk_size_of(shape, 0);
    int64_t sum = (int64_t)heddle_trunk_part(shape) * first.out_h * first.out_w;
    for (int i = 1; i < heddle_trunk_stages(shape); i++)
        sum += (int64_t)shape->stage[i].k * shape->stage[i].r * shape->stage[i].r;
    return sum;
}

static const char *const test_shapes[] = {
    "n=1 count=1 length=1 c=1 h=1 w=1 k1=1 r1=1",
    "n=5 count=9 length=13 c=1 h=12 w=12 k1=6 r1=5 padding1=2 function1=2 window1=2 average1=1 k2=16 r2=5 function2=2 "
    "parts=2",
    "n=3 count=5 length=3 c=3 h=11 w=13 k1=7 padding1=1 function1=1 window1=2 k2=5 r2=3 padding2=1 function2=3 half=1",
    "n=7 count=3 length=29 c=2 h=17 w=19 k1=8 r1=3 function1=1 window1=3 k2=11 r2=2 padding2=1 function2=2 k3=3 r3=3 "
    "padding3=1 function3=3 window3=2 average3=1 parts=3",
    "n=2 count=4 length=8 c=1 h=9 w=7 k1=4 r1=7 padding1=3 function1=2 window1=2 k2=9 r2=4 padding2=3 half=1 parts=4",
    "n=4 count=4 length=4 c=5 h=8 w=10 k1=12 r1=5 padding1=4 function1=1 k2=6 r2=5 padding2=3 window2=2 average2=1 "
    "k3=8 r3=3 padding3=2 function3=1 half=1",
    // every size of filter and every number of channels per thread
    "n=2 count=3 length=2 c=1 h=28 w=28 k1=8 r1=5 padding1=2 function1=1 window1=2 k2=12 r2=5 function2=2 window2=2 "
    "average2=1 parts=2",
    "n=2 count=3 length=5 c=2 h=30 w=30 k1=6 padding1=1 function1=2 window1=2 average1=1 k2=4 r2=6 padding2=3 "
    "function2=2 window2=2 k3=5 r3=7 padding3=3",
    "n=2 count=2 length=2 c=1 h=26 w=25 k1=4 function1=2 k2=8 padding2=1 function2=3 window2=2 k3=5 r3=1 function3=1",
    "n=3 count=5 length=4 c=1 h=13 w=11 k1=6 r1=5 padding1=2 function1=2 window1=2 average1=1 k2=5 function2=3 pairs=1 "
    "parts=2",
    // more images than blocks
    "n=701 count=64 length=701 c=1 h=5 w=4 k1=3 r1=3 padding1=1 function1=1 window1=2 parts=2", NULL};
static const char *const bench_shapes[] = {
    "n=1024 count=60000 length=60000 c=1 h=28 w=28 k1=6 r1=5 padding1=2 function1=2 window1=2 average1=1 k2=16 r2=5 "
    "function2=2 window2=2 average2=1 parts=64",
    "n=64 count=60000 length=60000 c=1 h=28 w=28 k1=6 r1=5 padding1=2 function1=2 window1=2 average1=1 k2=16 r2=5 "
    "function2=2 window2=2 average2=1 parts=64",
    NULL};

// --- ladders --------------------------------------------------------------------------------------------------------

static bool forward_fits(const void *shape)
{
    return !((const heddle_rows_trunk_shape *)shape)->int8 && trunk_bytes(shape, false) <= HEDDLE_ROWS_TRUNK_SHARED;
}

static bool backward_fits(const void *shape)
{
    return trunk_bytes(shape, true) <= HEDDLE_ROWS_TRUNK_SHARED;
}

static bool forward_fits_tensor_cores(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    return !shape->pairs && tensor_layout_of(shape, false, TENSOR_WARPS).bytes <= HEDDLE_ROWS_TRUNK_SHARED;
}

static bool forward_fits_pairs(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    return shape->pairs && tensor_layout_of(shape, false, TENSOR_WARPS).bytes <= HEDDLE_ROWS_TRUNK_SHARED;
}

static bool backward_fits_tensor_cores(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    return !shape->pairs && tensor_layout_of(shape, true, TENSOR_WARPS).bytes <= HEDDLE_ROWS_TRUNK_SHARED;
}

static bool backward_fits_pairs(const void *shape_)
{
    const heddle_rows_trunk_shape *shape = shape_;
    return shape->pairs && tensor_layout_of(shape, true, TENSOR_WARPS).bytes <= HEDDLE_ROWS_TRUNK_SHARED;
}

// What blocks leave; see the launcher.
static size_t backward_workspace(const void *shape_, int threads)
{
    (void)threads;
    const heddle_rows_trunk_shape *shape = shape_;
    const int blocks = shape->parts > HEDDLE_ROWS_TRUNK_BLOCKS ? shape->parts : HEDDLE_ROWS_TRUNK_BLOCKS;
    return (size_t)blocks * (size_t)trunk_left_of(shape).floats * sizeof(float);
}

HEDDLE_BY_REFERENCE(rows_trunk_forward)
HEDDLE_BY_REFERENCE(rows_trunk_backward)

static const heddle_rung forward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_trunk_forward),
    {"01_image_per_block", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "all stages of an image in shared memory, strips of results in registers: limited by float32 arithmetic",
     forward_fits, NULL, .capability = 90, .shared_bytes = HEDDLE_ROWS_TRUNK_SHARED},
    {"02_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "convolutions as products on tensor cores, straight out of shared memory: limited by one stage after another",
     forward_fits_tensor_cores, NULL, HEDDLE_TF32, .capability = 90, .shared_bytes = HEDDLE_ROWS_TRUNK_SHARED},
    {"03_pairs", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "the same for pairs of fp16, three products each: limited by one stage after another", forward_fits_pairs, NULL,
     HEDDLE_TF32X3, .capability = 90, .shared_bytes = HEDDLE_ROWS_TRUNK_SHARED},
};

static const heddle_rung backward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_trunk_backward),
    {"01_image_per_block", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "all gradients of an image in shared memory, sums per thread: limited by float32 arithmetic", backward_fits,
     backward_workspace, .capability = 90, .shared_bytes = HEDDLE_ROWS_TRUNK_SHARED},
    {"02_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "gradients as products on tensor cores, straight out of shared memory: limited by one stage after another",
     backward_fits_tensor_cores, backward_workspace, HEDDLE_TF32, .capability = 90,
     .shared_bytes = HEDDLE_ROWS_TRUNK_SHARED},
    {"03_pairs", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "the same for pairs of fp16, three products each: limited by one stage after another", backward_fits_pairs,
     backward_workspace, HEDDLE_TF32X3, .capability = 90, .shared_bytes = HEDDLE_ROWS_TRUNK_SHARED},
};

#define ROWS_TRUNK(title, about)                                                                                       \
    .name = (title), .ladder_name = "rows_trunk", .summary = (about), .shape_size = sizeof(heddle_rows_trunk_shape),   \
    HEDDLE_FIELDS(fields), .element = element, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_rows_trunk_forward = {
    ROWS_TRUNK("rows_trunk_forward", "the small convolutions that a network begins with, from bytes to rows of bf16"),
    .validate = validate,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = heddle_trunk_forward_reference,
    .fill = fill_forward,
    .reduction = forward_reduction,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_rows_trunk_backward = {
    ROWS_TRUNK("rows_trunk_backward", "the gradients of their weights and biases, in parts"),
    .validate = validate_floats,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = heddle_trunk_backward_reference,
    .fill = fill_backward,
    .reduction = backward_reduction,
    HEDDLE_LADDER(backward_ladder),
};
