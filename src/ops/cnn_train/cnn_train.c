// cnn_train: its shape and operands, its cost, and its ladder; the reference is in reference.c. The arithmetic of a
// step is cnn_step's, the update's the optimisers', and between two steps step_end's.

#include "ops/cnn_train/cnn_train.h"

#include <math.h>

#include "heddle/random.h"
#include "ops/by_reference.h"
#include "ops/cnn_step/layout.h"
#include "ops/define.h"

typedef heddle_cnn_train_shape train_shape;

enum { SGD, MOMENTUM, ADAMW, OPTIMIZERS };

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(train_shape, n, "samples in a batch")},
    {HEDDLE_OPTIONAL_INT(train_shape, count, 60000, "images in the dataset")},
    {HEDDLE_OPTIONAL_INT(train_shape, length, 60000, "length of the order; cursor + steps * n is at most that")},
    {HEDDLE_OPTIONAL_INT(train_shape, steps, 1, "steps, one after another")},
    {HEDDLE_OPTIONAL_INT(train_shape, rows, 1, "rows of the schedule; steps past its end keep the last")},
    {HEDDLE_OPTIONAL_INT(train_shape, optimizer, 0, "0: sgd, 1: momentum, 2: adamw")},
    {HEDDLE_OPTIONAL_INT(train_shape, bias, 1, "1: the convolutions have biases")},
    {HEDDLE_OPTIONAL_INT(train_shape, c, 1, "channels of an image")},
    {HEDDLE_OPTIONAL_INT(train_shape, h, 28, "image height")},
    {HEDDLE_OPTIONAL_INT(train_shape, w, 28, "image width")},
    {HEDDLE_OPTIONAL_INT(train_shape, k1, 32, "channels of the first convolution")},
    {HEDDLE_OPTIONAL_INT(train_shape, k2, 64, "channels of the second convolution")},
    {HEDDLE_OPTIONAL_INT(train_shape, hidden, 128, "outputs of the first linear layer")},
    {HEDDLE_OPTIONAL_INT(train_shape, classes, 10, "outputs of the second")},
    {HEDDLE_OPTIONAL_FLOAT(train_shape, epsilon, 1e-5, "added to the variances")},
    {HEDDLE_OPTIONAL_FLOAT(train_shape, momentum, 0.1, "weight of the new value in the running statistics")},
};

static heddle_status validate(const void *shape_)
{
    const train_shape *shape = shape_;
    if (shape->steps < 1 || shape->rows < 1)
        return heddle_fail(HEDDLE_INVALID, "cnn_train of steps=%d rows=%d: it takes at least one of each", shape->steps,
                           shape->rows);
    if (shape->optimizer < 0 || shape->optimizer >= OPTIMIZERS)
        return heddle_fail(HEDDLE_INVALID, "cnn_train of optimizer=%d: there are 0 (sgd), 1 (momentum) and 2 (adamw)",
                           shape->optimizer);
    if (shape->bias != 0 && shape->bias != 1)
        return heddle_fail(HEDDLE_INVALID, "cnn_train of bias=%d: it is 0 or 1", shape->bias);
    if ((int64_t)shape->n * shape->steps > shape->length)
        return heddle_fail(HEDDLE_INVALID, "cnn_train of n=%d steps=%d: an order of length=%d has not so many samples",
                           shape->n, shape->steps, shape->length);
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    return heddle_shape_validate(&heddle_op_cnn_step, &step);
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_images, train_shape, shape->count, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_labels, train_shape, shape->count)
HEDDLE_DIMS(dims_order, train_shape, shape->length)
HEDDLE_DIMS(dims_schedule, train_shape, shape->rows, HEDDLE_HYPER_COUNT)
HEDDLE_DIMS(dims_parameters, train_shape, heddle_cnn_train_parameters(shape).floats)
HEDDLE_DIMS(dims_first, train_shape, shape->optimizer > SGD ? heddle_cnn_train_parameters(shape).floats : 0)
HEDDLE_DIMS(dims_second, train_shape, shape->optimizer > MOMENTUM ? heddle_cnn_train_parameters(shape).floats : 0)
HEDDLE_DIMS(dims_statistics, train_shape, heddle_cnn_train_statistics(shape).floats)
HEDDLE_DIMS(dims_cursor, train_shape, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_tally, train_shape, HEDDLE_TALLY_COUNT)
HEDDLE_DIMS(dims_hyper, train_shape, HEDDLE_HYPER_COUNT)
HEDDLE_DIMS(dims_one, train_shape, 1)

HEDDLE_OF_SHAPE(int, limit_labels, train_shape, shape->classes)
HEDDLE_OF_SHAPE(int, limit_order, train_shape, shape->count)

// In the order of heddle_cnn_train_operands.
static const heddle_operand operands[] = {
    {"images", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_images},
    {"labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_labels, limit_labels},
    {"order", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_order, limit_order},
    {HEDDLE_FLOAT_INPUT("schedule", HEDDLE_VALUES_OWN, dims_schedule)},
    {HEDDLE_FLOAT_UPDATE("parameters", HEDDLE_VALUES_OWN, dims_parameters)},
    {HEDDLE_FLOAT_UPDATE("first_moment", HEDDLE_VALUES_OWN, dims_first)},
    {HEDDLE_FLOAT_UPDATE("second_moment", HEDDLE_VALUES_OWN, dims_second)},
    {HEDDLE_FLOAT_UPDATE("statistics", HEDDLE_VALUES_POSITIVE, dims_statistics)},
    {"cursor", HEDDLE_UPDATE, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor},
    {"tally", HEDDLE_UPDATE, HEDDLE_F64, HEDDLE_VALUES_POSITIVE, dims_tally},
    {HEDDLE_FLOAT_UPDATE("hyper", HEDDLE_VALUES_POSITIVE, dims_hyper), .smooth = true},
    {HEDDLE_FLOAT_OUTPUT("loss", dims_one)},
    {.name = "correct", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_one},
};

// --- values for tests and benchmarks --------------------------------------------------------------------------------

// Values of the tensors of a bank, each within its own width of its own middle; zeros between them.
typedef struct bank_range {
    double middle[HEDDLE_CNN_PARAMETERS], width[HEDDLE_CNN_PARAMETERS];
} bank_range;

static void fill_bank(const train_shape *shape, const bank_range *range, heddle_random *random, double *values)
{
    const heddle_cnn_train_bank bank = heddle_cnn_train_parameters(shape);
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    for (int i = 0; i < bank.floats; i++)
        values[i] = 0;
    for (int i = 0; i < HEDDLE_CNN_PARAMETERS; i++) {
        const size_t count = heddle_operand_elements(&heddle_op_cnn_step, HEDDLE_CNN_FIRST_PARAMETER + i, &step);
        for (size_t e = 0; bank.at[i] >= 0 && e < count; e++)
            values[(size_t)bank.at[i] + e] =
                range->middle[i] + range->width[i] * (2 * heddle_random_uniform(random) - 1);
    }
}

// Values of a new network.
static void fill_parameters(const train_shape *shape, heddle_random *random, double *values)
{
    const double taps = 9, features = shape->k2 * (shape->h / 4) * (shape->w / 4), norm = 0.3;
    const double conv1 = 1 / sqrt(taps * shape->c), conv2 = 1 / sqrt(taps * shape->k1);
    const double hidden = 1 / sqrt(features), output = 1 / sqrt(shape->hidden);
    const bank_range range = {
        .middle = {[HEDDLE_CNN_gamma1] = 1, [HEDDLE_CNN_gamma2] = 1},
        .width = {conv1, conv1, norm, norm, conv2, conv2, norm, norm, hidden, hidden, output, output},
    };
    fill_bank(shape, &range, random, values);
}

// Moments about as large as gradients, and their squares.
static void fill_moments(const train_shape *shape, double middle, double width, heddle_random *random, double *values)
{
    bank_range range;
    for (int i = 0; i < HEDDLE_CNN_PARAMETERS; i++)
        range.middle[i] = middle, range.width[i] = width;
    fill_bank(shape, &range, random, values);
}

// Rates so large that the update is visible beside the parameters, decreasing from step to step, so that it stays so.
static void fill_schedule(const train_shape *shape, double *values)
{
    for (int row = 0; row < shape->rows; row++, values += HEDDLE_HYPER_COUNT) {
        values[HEDDLE_HYPER_LEARNING_RATE] = 0.1 / (1 + row);
        values[HEDDLE_HYPER_WEIGHT_DECAY] = 0.05;
        values[HEDDLE_HYPER_MOMENTUM] = 0.9;
        values[HEDDLE_HYPER_BETA2] = 0.97;
        values[HEDDLE_HYPER_EPSILON] = 0.01;
        values[HEDDLE_HYPER_CORRECTION1] = 1 - pow(0.9, 1 + row);
        values[HEDDLE_HYPER_CORRECTION2] = 1 - pow(0.97, 1 + row);
    }
}

static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const train_shape *shape = shape_;
    heddle_random random = heddle_random_make(seed, (uint64_t)operand);
    if (heddle_operand_elements(&heddle_op_cnn_train, operand, shape) == 0)
        return;                                       // moments that the optimiser does not have
    enum { OUTPUTS = HEDDLE_CNN_TRAIN_SCHEDULE + 1 }; // operands before the first of them
    switch (operand) {
    case HEDDLE_CNN_TRAIN_SCHEDULE: fill_schedule(shape, values); break;
    case OUTPUTS + HEDDLE_CNN_TRAIN_PARAMETERS: fill_parameters(shape, &random, values); break;
    case OUTPUTS + HEDDLE_CNN_TRAIN_FIRST_MOMENT: fill_moments(shape, 0, 0.01, &random, values); break;
    case OUTPUTS + HEDDLE_CNN_TRAIN_SECOND_MOMENT: fill_moments(shape, 0.001, 0.001, &random, values); break;
    case OUTPUTS + HEDDLE_CNN_TRAIN_CURSOR:
        values[0] = shape->length - shape->steps * shape->n;
        values[1] = (double)(seed % 3);
        break;
    default: break;
    }
}

// --- cost -----------------------------------------------------------------------------------------------------------

static heddle_cost cost(const void *shape_)
{
    const train_shape *shape = shape_;
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    const double flops[OPTIMIZERS] = {4, 6, 13}, steps = shape->steps;
    const double floats = heddle_cnn_train_parameters(shape).floats, banks = 1 + shape->optimizer;
    heddle_cost one = heddle_op_cnn_step.cost(&step);
    return (heddle_cost){
        .flops = steps * (one.flops + flops[shape->optimizer] * floats),
        .bytes_read = steps * (one.bytes_read + sizeof(float) * shape->optimizer * floats),
        .bytes_written = steps * sizeof(float) * banks * floats,
    };
}

HEDDLE_OF_SHAPE(int64_t, reduction, train_shape, (int64_t)shape->n * shape->h * shape->w)

// --- the ladder -----------------------------------------------------------------------------------------------------

// A network that only the CPU rung accepts, without biases, several steps past the schedule's end; a single sample; and
// few. Several steps of a GPU rung take long on the simulated GPU: tests/nn compares them with single ones.
static const char *const test_shapes[] = {
    "n=3 count=5 length=9 steps=3 rows=2 optimizer=1 bias=0 c=2 h=9 w=7 k1=5 k2=7 hidden=6 classes=3",
    "n=1 count=1 length=1",
    "n=16 count=19 length=17 rows=3 optimizer=2 classes=3 momentum=1 epsilon=0.001",
    NULL,
};

static const char *const bench_shapes[] = {
    "n=1024 count=8192 length=8192 steps=8",
    "n=64 count=8192 length=8192 steps=8",
    "n=256 count=8192 length=8192 steps=8",
    "n=1024 count=8192 length=8192 steps=8 optimizer=2",
    NULL,
};

static bool is_mnist_cnn(const void *shape)
{
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    return heddle_cnn_step_is_mnist_cnn(&step);
}

static bool is_mnist_cnn_in_tf32(const void *shape)
{
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    return heddle_cnn_step_is_mnist_cnn_in_tf32(&step);
}

// cnn_step's, followed by one row of the cursor and of the schedule per step.
#define WORKSPACE(bits)                                                                                                \
    static size_t workspace_##bits(const void *shape_, int threads)                                                    \
    {                                                                                                                  \
        const train_shape *shape = shape_;                                                                             \
        const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);                                               \
        return heddle_cnn_step_##bits##_workspace(&step, threads) +                                                    \
               ((size_t)shape->steps + 1) *                                                                            \
                   (HEDDLE_CURSOR_COUNT * sizeof(int64_t) + HEDDLE_HYPER_COUNT * sizeof(float));                       \
    }
WORKSPACE(tf32x3)
WORKSPACE(tf32)
WORKSPACE(16bit)

#define CUDA_RUNG(rung, can, bits, kind, card, lacking, text)                                                          \
    HEDDLE_CNN_CUDA_RUNG(rung, can, workspace_##bits, kind, card, lacking, text)

HEDDLE_BY_REFERENCE(cnn_train)

// Slowest first. fp16 is not among them: whether a step overflowed is known only at its end.
static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(cnn_train),
    CUDA_RUNG("04_bf16", is_mnist_cnn, 16bit, HEDDLE_BFLOAT, 80, NULL,
              "six kernels per step; the last one updates and packs the parameters; products by mma.sync"),
    CUDA_RUNG("05_tf32x3_wgmma", is_mnist_cnn, tf32x3, HEDDLE_TF32X3, 90, "wgmma",
              "products by wgmma on two halves per float: nearly fp32"),
    CUDA_RUNG("06_tf32_wgmma", is_mnist_cnn_in_tf32, tf32, HEDDLE_TF32, 90, "wgmma",
              "one half per float, with as much mantissa as tf32"),
    CUDA_RUNG("08_bf16_wgmma", is_mnist_cnn, 16bit, HEDDLE_BFLOAT, 90, "wgmma",
              "16-bit operands: half the bytes, float's range, tensor cores at their full rate"),
};

const heddle_op heddle_op_cnn_train = {
    .name = "cnn_train",
    .ladder_name = "cnn_train",
    .summary = "whole training steps of the MNIST CNN: loss, gradients, optimiser update, tally",
    .shape_size = sizeof(train_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = heddle_cnn_train_reference,
    .exactness = HEDDLE_NORM,
    .reduction = reduction,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
