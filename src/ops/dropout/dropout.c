// dropout: each element is zero with a probability, else divided by 1 - probability. The random bits are Philox words
// numbered by element, so every device drops the same ones. Its cost, reference and ladder.

#include "ops/dropout/dropout.h"

#include "heddle/random.h"
#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_dropout_shape, n, "elements")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_dropout_shape, probability, 0.5, "of an element to become 0")},
};

HEDDLE_DIMS(dims_elements, heddle_dropout_shape, shape->n)

enum { STATE_SEED, STATE_SEQUENCE, STATE_POSITION, STATE_WORDS };

HEDDLE_DIMS(dims_random, void, STATE_WORDS)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_elements)},
    {.name = "random", .role = HEDDLE_INPUT, .dtype = HEDDLE_I64, .values = HEDDLE_VALUES_OWN, .dims = dims_random},
    {HEDDLE_FLOAT_OUTPUT("output", dims_elements)},
    {.name = "mask", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_U8, .dims = dims_elements, .saved = true},
};

static const heddle_operand backward_operands[] = {
    {.name = "mask", .role = HEDDLE_INPUT, .dtype = HEDDLE_U8, .values = HEDDLE_VALUES_SAVED, .dims = dims_elements},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_elements)},
};

// Large and ragged, to test the high halves of the state and a start inside a block.
static void fill(const void *shape, int operand, uint64_t seed, double *values)
{
    (void)shape, (void)operand;
    values[STATE_SEED] = (double)(0x123456789abcu + seed % 0x10000u);
    values[STATE_SEQUENCE] = (double)(0x700000000u + seed % 7u);
    values[STATE_POSITION] = (double)(0x3fffffff0u + seed % 31u); // the counter's low word wraps soon after
}

static heddle_status validate(const void *shape_)
{
    const heddle_dropout_shape *shape = shape_;
    if (shape->probability < 0.0f || shape->probability > 1.0f)
        return heddle_fail(HEDDLE_INVALID, "dropout: probability is %g, and must be in [0, 1]", shape->probability);
    return HEDDLE_OK;
}

static heddle_cost cost(const void *shape_)
{
    const heddle_dropout_shape *shape = shape_;
    double n = shape->n;
    return (heddle_cost){.flops = n, .bytes_read = sizeof(float) * n, .bytes_written = (sizeof(float) + 1) * n};
}

HEDDLE_COST(backward_cost, backward_operands, heddle_dropout_shape, shape->n)

static double scale(const heddle_dropout_shape *shape)
{
    return shape->probability < 1.0f ? 1.0 / (1.0 - shape->probability) : 0;
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_dropout_shape *shape = shape_;
    const double *state = input[1];
    heddle_random random = {(uint64_t)state[STATE_SEED], (uint64_t)state[STATE_SEQUENCE],
                            (uint64_t)state[STATE_POSITION]};
    for (int i = 0; i < shape->n; i++) {
        bool stays = heddle_random_uniform(&random) >= shape->probability;
        output[0][i] = stays ? input[0][i] * scale(shape) : 0;
        output[1][i] = stays;
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_dropout_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = input[0][i] != 0 ? input[1][i] * scale(shape) : 0;
}

static const char *const test_shapes[] = {"n=0",
                                          "n=1 probability=0",
                                          "n=7 probability=0.25",
                                          "n=31 probability=0.5",
                                          "n=67 probability=1",
                                          "n=16387 probability=0.1",
                                          NULL};
// Before the CNN's linear layers at batch 64 and 256, between them at 64, then a large one.
static const char *const bench_shapes[] = {"n=200704", "n=802816", "n=8192", "n=67108864", NULL};

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_dropout_forward_cpu_naive, "one thread, one Philox block per word",
     NULL, NULL},
    {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_dropout_forward_cpu_vectorised,
     "Philox by vectors of blocks on all threads: limited by its ten rounds", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element, one Philox block per word", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "sixteen elements per thread, from whole Philox blocks", NULL,
     NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_dropout_backward_cpu_naive, "one thread, one element at a time",
     NULL, NULL},
    {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_dropout_backward_cpu_vectorised,
     "vector code on all threads: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "sixteen elements per thread, 16 bytes at a time: limited by memory bandwidth", NULL, NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_dropout_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "dropout", .shape_size = sizeof(heddle_dropout_shape), HEDDLE_FIELDS(fields), .validate = validate, \
    .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_dropout_forward = {
    .name = "dropout_forward",
    .summary = "zero each element with a probability, scale the others to compensate",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = cost,
    .reference = forward_reference,
    .fill = fill,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_dropout_backward = {
    .name = "dropout_backward",
    .summary = "gradient of dropout",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    HEDDLE_LADDER(backward_ladder),
};
