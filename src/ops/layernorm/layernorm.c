// layernorm: each row normalised to mean 0 and variance 1, then scaled by gamma and shifted by beta, column by column.
// Its shapes, costs, references and ladders.

#include "ops/layernorm/layernorm.h"

#include <math.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_layernorm_shape, rows, "samples, or tokens")},
    {HEDDLE_REQUIRED_INT(heddle_layernorm_shape, cols, "features that are normalised together")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_layernorm_shape, epsilon, 1e-5, "added to the variance")},
};

HEDDLE_DIMS(dims_input, heddle_layernorm_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_rows, heddle_layernorm_shape, shape->rows)
HEDDLE_DIMS(dims_cols, heddle_layernorm_shape, shape->cols)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, dims_cols)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, dims_cols)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_input)},
    {HEDDLE_FLOAT_OUTPUT("mean", dims_rows), .saved = true},
    {HEDDLE_FLOAT_OUTPUT("inverse_std", dims_rows), .saved = true},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, dims_cols)},
    {HEDDLE_FLOAT_INPUT("mean", HEDDLE_VALUES_SAVED, dims_rows)},
    {HEDDLE_FLOAT_INPUT("inverse_std", HEDDLE_VALUES_SAVED, dims_rows)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_input), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_gamma", dims_cols)},
    {HEDDLE_FLOAT_OUTPUT("grad_beta", dims_cols)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_layernorm_shape *shape = shape_;
    if (shape->cols < 1)
        return heddle_fail(HEDDLE_INVALID, "layernorm: there is no mean of %d columns; give at least 1", shape->cols);
    if (shape->epsilon < 0.0f)
        return heddle_fail(HEDDLE_INVALID, "layernorm: epsilon must not be negative (epsilon=%g)", shape->epsilon);
    return HEDDLE_OK;
}

// A sum, a centred square, and subtract, multiply, multiply, add.
HEDDLE_COST(forward_cost, forward_operands, heddle_layernorm_shape, 7.0 * shape->rows * shape->cols)
HEDDLE_COST(backward_cost, backward_operands, heddle_layernorm_shape, 13.0 * shape->rows * shape->cols)

// --- the reference --------------------------------------------------------------------------------------------------

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_layernorm_shape *shape = shape_;
    size_t cols = (size_t)shape->cols;
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        double mean = 0, variance = 0;
        for (size_t j = 0; j < cols; j++)
            mean += input[0][i * cols + j] / (double)cols;
        for (size_t j = 0; j < cols; j++)
            variance += pow(input[0][i * cols + j] - mean, 2) / (double)cols;
        double inverse_std = 1 / sqrt(variance + shape->epsilon);
        output[1][i] = mean;
        output[2][i] = inverse_std;
        for (size_t j = 0; j < cols; j++)
            output[0][i * cols + j] = (input[0][i * cols + j] - mean) * inverse_std * input[1][j] + input[2][j];
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_layernorm_shape *shape = shape_;
    size_t cols = (size_t)shape->cols;
    for (size_t j = 0; j < cols; j++)
        output[1][j] = output[2][j] = 0;
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        const double *x = input[0] + i * cols, *gamma = input[1], *grad = input[4] + i * cols;
        double mean = input[2][i], inverse_std = input[3][i], sum = 0, product = 0;
        for (size_t j = 0; j < cols; j++) {
            double normalised = (x[j] - mean) * inverse_std;
            output[1][j] += grad[j] * normalised;
            output[2][j] += grad[j];
            sum += grad[j] * gamma[j] / (double)cols;
            product += grad[j] * gamma[j] * normalised / (double)cols;
        }
        for (size_t j = 0; output[0] && j < cols; j++)
            output[0][i * cols + j] = inverse_std * (grad[j] * gamma[j] - sum - (x[j] - mean) * inverse_std * product);
    }
}

HEDDLE_OF_SHAPE(int64_t, forward_reduction, heddle_layernorm_shape, shape->cols)
HEDDLE_OF_SHAPE(int64_t, backward_reduction, heddle_layernorm_shape,
                shape->cols > shape->rows ? shape->cols : shape->rows)

// --- the tables -----------------------------------------------------------------------------------------------------

// From 12 on, multiples of 4: one row for every group size of the last rung, and one too long for any. Ragged rows take
// its scalar path.
static const char *const test_shapes[] = {"rows=0 cols=5",
                                          "rows=1 cols=1",
                                          "rows=3 cols=2",
                                          "rows=7 cols=10",
                                          "rows=5 cols=3 epsilon=0.1",
                                          "rows=6 cols=1009",
                                          "rows=1301 cols=11",
                                          "rows=67 cols=12",
                                          "rows=19 cols=32",
                                          "rows=9 cols=60",
                                          "rows=6 cols=128",
                                          "rows=5 cols=132",
                                          "rows=300 cols=300",
                                          "rows=3 cols=512",
                                          "rows=3 cols=1024",
                                          "rows=7 cols=2048",
                                          "rows=2 cols=4092",
                                          "rows=1 cols=4099",
                                          "rows=2 cols=8192",
                                          "rows=2 cols=16380",
                                          "rows=2 cols=16387",
                                          "rows=1 cols=20000",
                                          NULL};
// 1 GiB first, with rows as in a model, long and short; then a small batch of tokens.
static const char *const bench_shapes[] = {"rows=65536 cols=4096", "rows=16384 cols=16384", "rows=1048576 cols=256",
                                           "rows=65536 cols=4095", "rows=8192 cols=768",    NULL};

// Two sums per column for each of the blocks that share the rows.
HEDDLE_WORKSPACE(parts_workspace, heddle_layernorm_shape,
                 (size_t)heddle_layernorm_parts(shape->rows, shape->cols) * 2 * (size_t)shape->cols * sizeof(float))

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_layernorm_forward_cpu_naive,
     "three passes over each row, one number at a time", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_layernorm_forward_cpu_rows,
     "rows over the threads, eight sums at a time: limited by conversions to double", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per row, three passes: uncoalesced", NULL, NULL},
    {"02_block_a_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one block per row, trees in shared memory: three passes", NULL,
     NULL},
    {"03_welford", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "mean and variance in one pass, merged by shuffles: the row is read twice", NULL, NULL},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the row in registers, 16 bytes per access: limited by memory bandwidth", NULL, NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_layernorm_backward_cpu_naive,
     "two passes over the rows, then one over the columns, one number at a time", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_layernorm_backward_cpu_rows,
     "rows, then strips of columns over the threads: limited by conversions to double", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per row and one thread per column: uncoalesced, few threads, long sums", NULL, NULL},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "rows in registers, columns' sums in registers from row to row: limited by memory bandwidth", NULL,
     parts_workspace},
};

static const heddle_op *const gradients[] = {&heddle_op_layernorm_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "layernorm", .shape_size = sizeof(heddle_layernorm_shape), HEDDLE_FIELDS(fields),                   \
    .validate = validate, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_layernorm_forward = {
    .name = "layernorm_forward",
    .summary = "each row normalised, scaled and shifted",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_layernorm_backward = {
    .name = "layernorm_backward",
    .summary = "gradients of layernorm",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = backward_reduction,
    HEDDLE_LADDER(backward_ladder),
};
