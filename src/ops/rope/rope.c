// rope: rotary position embedding. Its cost, reference and ladder.

#include "ops/rope/rope.h"

#include "ops/define.h"

typedef heddle_rope_shape rope_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(rope_shape, batch, "sequences")},
    {HEDDLE_REQUIRED_INT(rope_shape, sequence, "positions of a sequence")},
    {HEDDLE_REQUIRED_INT(rope_shape, heads, "heads")},
    {HEDDLE_REQUIRED_INT(rope_shape, size, "of a head; element i is turned together with element i + size / 2")},
    {HEDDLE_OPTIONAL_INT(rope_shape, start, 0, "number of the first position")},
    {HEDDLE_OPTIONAL_INT(rope_shape, inverse, 0, "1: turn back, which is the gradient")},
    {HEDDLE_OPTIONAL_FLOAT(rope_shape, base, 10000, "pair i is turned by position * base^(-2 i / size)")},
};

HEDDLE_DIMS(dims, rope_shape, shape->batch, shape->sequence, shape->heads, shape->size)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_OUTPUT("output", dims)},
};

static heddle_status validate(const void *shape_)
{
    const rope_shape *shape = shape_;
    if (shape->batch < 0 || shape->sequence < 0 || shape->heads < 0 || shape->start < 0)
        return heddle_fail(HEDDLE_INVALID, "rope: batch=%d sequence=%d heads=%d start=%d: none may be negative",
                           shape->batch, shape->sequence, shape->heads, shape->start);
    if (shape->size < 2 || shape->size % 2 != 0)
        return heddle_fail(HEDDLE_INVALID, "rope: a head of size=%d is not made of pairs; give an even size",
                           shape->size);
    if (shape->inverse != 0 && shape->inverse != 1)
        return heddle_fail(HEDDLE_INVALID, "rope: inverse is 0 or 1, not %d", shape->inverse);
    if (!(shape->base > 0.0f))
        return heddle_fail(HEDDLE_INVALID, "rope: base must be above 0 (base=%g)", shape->base);
    return HEDDLE_OK;
}

// Per pair four products and two sums.
HEDDLE_COST(cost, operands, rope_shape, 3.0 * shape->batch * shape->sequence * shape->heads * shape->size)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const rope_shape *shape = shape_;
    const size_t half = (size_t)shape->size / 2;
    size_t at = 0; // of a head
    for (int sample = 0; sample < shape->batch; sample++)
        for (int position = 0; position < shape->sequence; position++)
            for (int head = 0; head < shape->heads; head++, at += 2 * half)
                for (size_t i = 0; i < half; i++) {
                    double angle = heddle_rope_angle(shape, position, (int)i);
                    double x = input[0][at + i], y = input[0][at + half + i];
                    output[0][at + i] = x * cos(angle) - y * sin(angle);
                    output[0][at + half + i] = y * cos(angle) + x * sin(angle);
                }
}

static int64_t reduction(const void *shape)
{
    (void)shape;
    return 2; // products of a pair
}

static const char *const test_shapes[] = {"batch=0 sequence=3 heads=2 size=4",
                                          "batch=2 sequence=0 heads=2 size=4",
                                          "batch=2 sequence=3 heads=0 size=4",
                                          "batch=1 sequence=1 heads=1 size=2",
                                          "batch=1 sequence=2 heads=1 size=2 start=7",
                                          "batch=2 sequence=3 heads=33 size=34",
                                          "batch=2 sequence=3 heads=7 size=8 inverse=1 start=8191",
                                          "batch=1 sequence=7 heads=2 size=6 base=500000",
                                          "batch=3 sequence=5 heads=2 size=22 inverse=1",
                                          "batch=1 sequence=3 heads=5 size=128 start=131000",
                                          NULL};
// Llama's queries of 8 sequences first, then its keys (fewer heads), long sequences, and one token of a batch.
static const char *const bench_shapes[] = {
    "batch=8 sequence=2048 heads=32 size=128", "batch=8 sequence=2048 heads=8 size=128",
    "batch=1 sequence=32768 heads=32 size=128", "batch=64 sequence=1 heads=32 size=128 start=2047", NULL};

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_rope_cpu_naive,
     "one thread, pow, sin and cos for every pair of every head", NULL, NULL},
    {"cpu_table", HEDDLE_CPU, HEDDLE_TUNED, heddle_rope_cpu_table,
     "sin and cos once per position, then positions over the threads: limited by memory bandwidth", NULL,
     heddle_rope_table_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per pair, pow, sin and cos in each", NULL, NULL},
    {"02_shared_table", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one block per token: sin and cos in shared memory for all heads", NULL, NULL},
    {"03_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one table for all sequences, 16 bytes per access: limited by memory bandwidth", NULL,
     heddle_rope_table_workspace},
};

const heddle_op heddle_op_rope = {
    .name = "rope",
    .ladder_name = "rope",
    .summary = "rotary position embedding: pairs of a head turned by an angle that grows with the position",
    .shape_size = sizeof(rope_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
