// quantise: float32 rows to bytes and a scale, so that a row's largest value becomes 127 or -127; dequantise: back.
// Costs, references and ladders.

#include "ops/quantise/quantise.h"

#include <math.h>

#include "heddle/random.h"
#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, rows, "rows, each with its own scale")},
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, cols, "elements of a row")},
};

HEDDLE_DIMS(dims_rows, heddle_rows_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_scale, heddle_rows_shape, shape->rows)

static const heddle_operand quantise_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_rows)},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I8, .dims = dims_rows},
    {HEDDLE_FLOAT_OUTPUT("scale", dims_scale)},
};

static const heddle_operand dequantise_operands[] = {
    {.name = "input", .role = HEDDLE_INPUT, .dtype = HEDDLE_I8, .values = HEDDLE_VALUES_OWN, .dims = dims_rows},
    {HEDDLE_FLOAT_INPUT("scale", HEDDLE_VALUES_POSITIVE, dims_scale)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_rows)},
};

static void dequantise_fill(const void *shape, int operand, uint64_t seed, double *values)
{
    enum { LEVELS = 255, MIDDLE = 127 };
    heddle_random random = heddle_random_make(seed, (uint64_t)operand);
    size_t elements = heddle_operand_elements(&heddle_op_dequantise, operand, shape);
    for (size_t i = 0; i < elements; i++)
        values[i] = (double)heddle_random_below(&random, LEVELS) - MIDDLE;
}

HEDDLE_COST(quantise_cost, quantise_operands, heddle_rows_shape, 3.0 * shape->rows * shape->cols)
HEDDLE_COST(dequantise_cost, dequantise_operands, heddle_rows_shape, (double)shape->rows * shape->cols)

// Divisions and rounding are in float32, which every rung computes to the last bit: the resulting byte is defined
// exactly.
static void quantise_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (int row = 0; row < shape->rows; row++) {
        const double *from = input[0] + (size_t)row * shape->cols;
        double largest = 0;
        for (int col = 0; col < shape->cols; col++)
            largest = fmax(largest, fabs(from[col]));
        float scale = heddle_quantise_scale((float)largest);
        output[1][row] = scale;
        for (int col = 0; col < shape->cols; col++)
            output[0][(size_t)row * shape->cols + col] = rintf((float)from[col] / scale);
    }
}

static void dequantise_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (int row = 0; row < shape->rows; row++)
        for (int col = 0; col < shape->cols; col++)
            output[0][(size_t)row * shape->cols + col] = input[1][row] * input[0][(size_t)row * shape->cols + col];
}

static const char *const test_shapes[] = {
    "rows=0 cols=3",    "rows=3 cols=0",    "rows=1 cols=1",   "rows=2 cols=31",  "rows=7 cols=33",
    "rows=3 cols=1000", "rows=2 cols=4099", "rows=5 cols=256", "rows=301 cols=3", NULL};
static const char *const bench_shapes[] = {"rows=65536 cols=4096", "rows=4096 cols=4096",
                                           NULL}; // 1 GiB of float32 first

#define NAIVE(operator)                                                                                                \
    {                                                                                                                  \
        "cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##operator##_cpu_naive, "one row at a time, one thread", NULL,   \
            NULL                                                                                                       \
    }
static const heddle_rung quantise_ladder[] = {
    NAIVE(quantise),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per row: lanes far apart in memory", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one block per row, 16 bytes per load; the second read is from cache", NULL, NULL},
};
static const heddle_rung dequantise_ladder[] = {
    NAIVE(dequantise),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element", NULL, NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "four elements per thread", NULL, NULL},
};

#define SHARED                                                                                                         \
    .ladder_name = "quantise", .shape_size = sizeof(heddle_rows_shape), HEDDLE_FIELDS(fields),                         \
    .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_quantise = {
    .name = "quantise",
    .summary = "float32 rows to bytes and one scale per row",
    SHARED,
    HEDDLE_OPERANDS(quantise_operands),
    .cost = quantise_cost,
    .reference = quantise_reference,
    HEDDLE_LADDER(quantise_ladder),
};

const heddle_op heddle_op_dequantise = {
    .name = "dequantise",
    .summary = "bytes and one scale per row back to float32",
    SHARED,
    HEDDLE_OPERANDS(dequantise_operands),
    .cost = dequantise_cost,
    .reference = dequantise_reference,
    .fill = dequantise_fill,
    HEDDLE_LADDER(dequantise_ladder),
};
