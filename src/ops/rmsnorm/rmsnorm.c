// rmsnorm: each row divided by the root of the mean of its squares, then scaled by a weight per column. Its shapes,
// costs, references and ladders.

#include "ops/rmsnorm/rmsnorm.h"

#include <math.h>

#include "ops/define.h"
#include "ops/layernorm/layernorm.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_layernorm_shape, rows, "samples, or tokens")},
    {HEDDLE_REQUIRED_INT(heddle_layernorm_shape, cols, "features that are normalised together")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_layernorm_shape, epsilon, 1e-5, "added to the mean of the squares")},
};

HEDDLE_DIMS(dims_input, heddle_layernorm_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_rows, heddle_layernorm_shape, shape->rows)
HEDDLE_DIMS(dims_cols, heddle_layernorm_shape, shape->cols)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, dims_cols)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_input)},
    {HEDDLE_FLOAT_OUTPUT("inverse_rms", dims_rows), .saved = true},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, dims_cols)},
    {HEDDLE_FLOAT_INPUT("inverse_rms", HEDDLE_VALUES_SAVED, dims_rows)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_input), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_weight", dims_cols)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_layernorm_shape *shape = shape_;
    if (shape->rows < 0 || shape->cols < 1)
        return heddle_fail(HEDDLE_INVALID, "rmsnorm: rows=%d cols=%d: a row needs at least 1 column", shape->rows,
                           shape->cols);
    if (!(shape->epsilon >= 0.0f))
        return heddle_fail(HEDDLE_INVALID, "rmsnorm: epsilon must not be negative (epsilon=%g)", shape->epsilon);
    return HEDDLE_OK;
}

// A square and its sum, two multiplications.
HEDDLE_COST(forward_cost, forward_operands, heddle_layernorm_shape, 4.0 * shape->rows * shape->cols)
HEDDLE_COST(backward_cost, backward_operands, heddle_layernorm_shape, 9.0 * shape->rows * shape->cols)

// --- the reference --------------------------------------------------------------------------------------------------

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_layernorm_shape *shape = shape_;
    size_t cols = (size_t)shape->cols;
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        double squares = 0;
        for (size_t j = 0; j < cols; j++)
            squares += input[0][i * cols + j] * input[0][i * cols + j] / (double)cols;
        output[1][i] = 1 / sqrt(squares + shape->epsilon);
        for (size_t j = 0; j < cols; j++)
            output[0][i * cols + j] = input[0][i * cols + j] * output[1][i] * input[1][j];
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_layernorm_shape *shape = shape_;
    size_t cols = (size_t)shape->cols;
    for (size_t j = 0; j < cols; j++)
        output[1][j] = 0;
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        const double *x = input[0] + i * cols, *weight = input[1], *grad = input[3] + i * cols;
        double inverse_rms = input[2][i], product = 0;
        for (size_t j = 0; j < cols; j++) {
            output[1][j] += grad[j] * x[j] * inverse_rms;
            product += grad[j] * weight[j] * x[j] * inverse_rms / (double)cols;
        }
        for (size_t j = 0; output[0] && j < cols; j++)
            output[0][i * cols + j] = inverse_rms * (grad[j] * weight[j] - x[j] * inverse_rms * product);
    }
}

HEDDLE_OF_SHAPE(int64_t, forward_reduction, heddle_layernorm_shape, shape->cols)
HEDDLE_OF_SHAPE(int64_t, backward_reduction, heddle_layernorm_shape,
                shape->cols > shape->rows ? shape->cols : shape->rows)

// --- the tables -----------------------------------------------------------------------------------------------------

// Rows for a part of a warp, a warp and a block of 03_vectorised, whole and ragged, with its sums in shared memory, and
// one too long for any group. layernorm, whose kernels these are, has a row for every group size.
static const char *const test_shapes[] = {"rows=0 cols=5",
                                          "rows=1 cols=1",
                                          "rows=3 cols=2",
                                          "rows=7 cols=10",
                                          "rows=5 cols=3 epsilon=0.1",
                                          "rows=33 cols=12",
                                          "rows=41 cols=11",
                                          "rows=9 cols=60",
                                          "rows=3 cols=1009",
                                          "rows=7 cols=2048",
                                          "rows=1 cols=8200",
                                          "rows=1 cols=16389",
                                          NULL};
// 1 GiB first, with rows as in a model, long and short; then a small batch of tokens.
static const char *const bench_shapes[] = {"rows=65536 cols=4096", "rows=16384 cols=16384", "rows=1048576 cols=256",
                                           "rows=65536 cols=4095", "rows=8192 cols=4096",   NULL};

// One sum per column for each of the blocks that share the rows.
HEDDLE_WORKSPACE(parts_workspace, heddle_layernorm_shape,
                 (size_t)heddle_layernorm_parts(shape->rows, shape->cols) * (size_t)shape->cols * sizeof(float))

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_rmsnorm_forward_cpu_naive,
     "two passes over each row, one number at a time", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_rmsnorm_forward_cpu_rows,
     "rows over the threads, eight sums at a time: limited by conversions to double", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per row, two passes: uncoalesced", NULL, NULL},
    {"02_block_per_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one block per row, sums by shuffles: the row is read twice",
     NULL, NULL},
    {"03_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the row in registers, 16 bytes per access: limited by memory bandwidth", NULL, NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_rmsnorm_backward_cpu_naive,
     "two passes over the rows, then one over the columns, one number at a time", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_rmsnorm_backward_cpu_rows,
     "rows, then strips of columns over the threads: limited by conversions to double", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per row and one thread per column: uncoalesced, few threads, long sums", NULL, NULL},
    {"02_block_per_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one block per row, eight warps per 32 columns: the inputs are read three times", NULL, NULL},
    {"03_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "rows in registers, columns' sums in registers from row to row: limited by memory bandwidth", NULL,
     parts_workspace},
};

static const heddle_op *const gradients[] = {&heddle_op_rmsnorm_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "rmsnorm", .shape_size = sizeof(heddle_layernorm_shape), HEDDLE_FIELDS(fields),                     \
    .validate = validate, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_rmsnorm_forward = {
    .name = "rmsnorm_forward",
    .summary = "each row divided by its root mean square, and scaled",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_rmsnorm_backward = {
    .name = "rmsnorm_backward",
    .summary = "gradients of rmsnorm",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = backward_reduction,
    HEDDLE_LADDER(backward_ladder),
};
