// cross_entropy: the mean of -log softmax(logits)[label], and how many rows have their largest logit at the label. Its
// cost, reference and ladder.

#include "ops/cross_entropy/cross_entropy.h"

#include <math.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, rows, "samples")},
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, cols, "classes")},
};

HEDDLE_DIMS(dims_logits, heddle_rows_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_labels, heddle_rows_shape, shape->rows)
HEDDLE_DIMS(dims_one, void, 1)

HEDDLE_OF_SHAPE(int, classes, heddle_rows_shape, shape->cols)

#define LABELS                                                                                                         \
    .name = "labels", .role = HEDDLE_INPUT, .dtype = HEDDLE_I32, .values = HEDDLE_VALUES_LABELS, .dims = dims_labels,  \
    .limit = classes

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("logits", HEDDLE_VALUES_NORMAL, dims_logits)},
    {LABELS},
    {HEDDLE_FLOAT_OUTPUT("loss", dims_one)},
    {HEDDLE_FLOAT_OUTPUT("probabilities", dims_logits), .saved = true},
    {.name = "correct", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_one},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("probabilities", HEDDLE_VALUES_SAVED, dims_logits)},
    {LABELS},
    {HEDDLE_FLOAT_INPUT("grad_loss", HEDDLE_VALUES_NORMAL, dims_one)},
    {HEDDLE_FLOAT_OUTPUT("grad_logits", dims_logits)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_rows_shape *shape = shape_;
    if (shape->rows < 1 || shape->cols < 1)
        return heddle_fail(HEDDLE_INVALID,
                           "cross_entropy: a mean needs at least one row and one class (rows=%d cols=%d)", shape->rows,
                           shape->cols);
    return HEDDLE_OK;
}

HEDDLE_COST(forward_cost, forward_operands, heddle_rows_shape, 5.0 * shape->rows * shape->cols)

static heddle_cost backward_cost(const void *shape_)
{
    const heddle_rows_shape *shape = shape_;
    double count = (double)shape->rows * shape->cols;
    return (heddle_cost){.flops = 2 * count,
                         .bytes_read = sizeof(float) * count + sizeof(int32_t) * (double)shape->rows,
                         .bytes_written = sizeof(float) * count};
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    output[0][0] = 0;
    output[2][0] = 0;
    for (int i = 0; i < shape->rows; i++) {
        const double *x = input[0] + (size_t)i * shape->cols;
        int best = 0, label = (int)input[1][i];
        for (int j = 1; j < shape->cols; j++)
            best = x[j] > x[best] ? j : best;
        double sum = exp(x[0] - x[best]);
        for (int j = 1; j < shape->cols; j++)
            sum += exp(x[j] - x[best]);
        for (int j = 0; j < shape->cols; j++)
            output[1][(size_t)i * shape->cols + j] = exp(x[j] - x[best]) / sum;
        output[0][0] += (log(sum) + x[best] - x[label]) / shape->rows;
        output[2][0] += best == label;
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (int i = 0; i < shape->rows; i++)
        for (int j = 0; j < shape->cols; j++) {
            size_t at = (size_t)i * shape->cols + j;
            output[0][at] = (input[0][at] - (j == (int)input[1][i])) * input[2][0] / shape->rows;
        }
}

HEDDLE_OF_SHAPE(int64_t, forward_reduction, heddle_rows_shape, shape->cols > shape->rows ? shape->cols : shape->rows)

static const char *const test_shapes[] = {"rows=1 cols=1",
                                          "rows=1 cols=2",
                                          "rows=7 cols=10",
                                          "rows=64 cols=3",
                                          "rows=13 cols=1009",
                                          "rows=2001 cols=11",
                                          "rows=300 cols=12",
                                          "rows=5 cols=32",
                                          "rows=3 cols=256",
                                          "rows=3 cols=1000",
                                          "rows=2 cols=4096",
                                          "rows=1 cols=8000",
                                          "rows=1 cols=16384",
                                          "rows=1 cols=16387",
                                          "rows=2 cols=20000",
                                          "rows=70001 cols=2",
                                          NULL};
// 1 GiB first; the CNN's batches; classes of images and of a language model.
static const char *const bench_shapes[] = {"rows=65536 cols=4096", "rows=64 cols=10",      "rows=256 cols=10",
                                           "rows=4096 cols=1000",  "rows=8192 cols=50257", NULL};

HEDDLE_WORKSPACE(naive_workspace, heddle_rows_shape, (size_t)shape->rows * sizeof(heddle_cross_entropy_row))

// 02_row_in_registers: the rows, and 16 bytes for each of the blocks that add them.
static size_t registers_workspace(const void *shape, int threads)
{
    enum { ADDING = 256 };
    return naive_workspace(shape, threads) + (size_t)ADDING * 2 * sizeof(double);
}

// Columns are compared as floats.
HEDDLE_OF_SHAPE(bool, supports_registers, heddle_rows_shape, shape->cols <= 1 << 24)

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_cross_entropy_forward_cpu_naive,
     "one row at a time, two calls of exp per element", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_cross_entropy_forward_cpu_rows,
     "rows over the threads, vectors along each row", NULL, heddle_cross_entropy_forward_cpu_rows_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per row, then one thread adds the rows in order: uncoalesced, few threads", NULL, naive_workspace},
    {"02_row_in_registers", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one group of threads per row, 16 bytes per access, rows added by blocks: limited by memory bandwidth",
     supports_registers, registers_workspace},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_cross_entropy_backward_cpu_naive, "one element at a time", NULL,
     NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_cross_entropy_backward_cpu_rows,
     "rows over the threads, vectors along each row: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: memory-bound", NULL, NULL},
    {"02_row_in_registers", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one group of threads per row, 16 bytes per access: limited by memory bandwidth", NULL, NULL},
};

static const heddle_op *const gradients[] = {&heddle_op_cross_entropy_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "cross_entropy", .shape_size = sizeof(heddle_rows_shape), HEDDLE_FIELDS(fields),                    \
    .validate = validate, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_cross_entropy_forward = {
    .name = "cross_entropy_forward",
    .summary = "mean of -log softmax(logits)[label], and the number of correct predictions",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_cross_entropy_backward = {
    .name = "cross_entropy_backward",
    .summary = "gradient of cross_entropy",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    HEDDLE_LADDER(backward_ladder),
};
