// softmax: each row as probabilities, exp(x) / Σ exp(x), and log_softmax, their logarithms. Costs, references and
// ladders.

#include "ops/softmax/softmax.h"

#include <math.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, rows, "samples")},
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, cols, "classes")},
};

HEDDLE_DIMS(dims_rows, heddle_rows_shape, shape->rows, shape->cols)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_rows)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("output", HEDDLE_VALUES_SAVED, dims_rows)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_rows)},
};

HEDDLE_COST(forward_cost, forward_operands, heddle_rows_shape, 5.0 * shape->rows * shape->cols)
HEDDLE_COST(backward_cost, backward_operands, heddle_rows_shape, 4.0 * shape->rows * shape->cols)

// cols is at least 1.
static double log_sum_exp(const double *x, int cols)
{
    double most = x[0];
    for (int j = 1; j < cols; j++)
        most = x[j] > most ? x[j] : most;
    double sum = exp(x[0] - most);
    for (int j = 1; j < cols; j++)
        sum += exp(x[j] - most);
    return most + log(sum);
}

static void log_softmax_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->rows && shape->cols > 0; i++) {
        double log_sum = log_sum_exp(input[0] + i * shape->cols, shape->cols);
        for (size_t j = i * shape->cols; j < (i + 1) * shape->cols; j++)
            output[0][j] = input[0][j] - log_sum;
    }
}

static void softmax_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    log_softmax_forward_reference(shape, input, output);
    for (size_t j = 0; j < (size_t)shape->rows * shape->cols; j++)
        output[0][j] = exp(output[0][j]);
}

static void softmax_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        double sum = 0;
        for (size_t j = i * shape->cols; j < (i + 1) * shape->cols; j++)
            sum += input[0][j] * input[1][j];
        for (size_t j = i * shape->cols; j < (i + 1) * shape->cols; j++)
            output[0][j] = input[0][j] * (input[1][j] - sum);
    }
}

static void log_softmax_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->rows; i++) {
        double sum = 0;
        for (size_t j = i * shape->cols; j < (i + 1) * shape->cols; j++)
            sum += input[1][j];
        for (size_t j = i * shape->cols; j < (i + 1) * shape->cols; j++)
            output[0][j] = input[1][j] - exp(input[0][j]) * sum;
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_rows_shape, shape->cols)

// From 12 on, multiples of 4: one row for every group size of 04_vectorised, and one too long for any. Ragged rows take
// its scalar path.
static const char *const test_shapes[] = {
    "rows=0 cols=5",     "rows=3 cols=0",     "rows=1 cols=2",     "rows=7 cols=10",
    "rows=3 cols=1",     "rows=5 cols=3",     "rows=13 cols=1009", "rows=2001 cols=11",
    "rows=67 cols=12",   "rows=19 cols=32",   "rows=9 cols=60",    "rows=6 cols=128",
    "rows=5 cols=132",   "rows=5 cols=512",   "rows=3 cols=1024",  "rows=2 cols=2048",
    "rows=2 cols=4092",  "rows=1 cols=4099",  "rows=1 cols=8192",  "rows=2 cols=16380",
    "rows=1 cols=20000", "rows=3 cols=32771", "rows=1 cols=40000", NULL};
// 1 GiB first, with rows as in a model, long and short; then the classes of images, of a batch, and of a language
// model.
static const char *const bench_shapes[] = {
    "rows=65536 cols=4096", "rows=16384 cols=16384", "rows=1048576 cols=256", "rows=65536 cols=4095",
    "rows=4096 cols=1000",  "rows=256 cols=10",      "rows=8192 cols=50257",  NULL};

// Longer than the longest row that 04_vectorised reads once, and not so long that a cluster has a whole part of the
// chip.
enum { LONG_ROW = 16384, LONGEST_ROW = 65536 };

HEDDLE_OF_SHAPE(bool, is_long, heddle_rows_shape, shape->cols > LONG_ROW && shape->cols <= LONGEST_ROW)

// Long rows that the shared memory of an SM holds, and several of them for each SM.
enum { LONGEST_PREFETCHED = 51169, ROWS_TO_PREFETCH = 512 };

HEDDLE_OF_SHAPE(bool, fits_one_sm, heddle_rows_shape, shape->cols >= LONG_ROW && shape->cols <= LONGEST_PREFETCHED)
HEDDLE_OF_SHAPE(bool, are_many_long, heddle_rows_shape,
                shape->cols > LONG_ROW && shape->cols <= LONGEST_PREFETCHED && shape->rows >= ROWS_TO_PREFETCH)

// Slowest first.
#define NAIVE_NOTE     "one row at a time, one call of exp per element"
#define ROWS_NOTE      "rows over the threads, vectors along each row"
#define BLOCK_NOTE     "one block per row, trees in shared memory: three passes"
#define ONLINE_NOTE    "largest value and sum in one pass, merged by shuffles: the row is read twice"
#define REGISTERS_NOTE "the row in registers, 16 bytes per access: limited by memory bandwidth"
#define CLUSTERS_NOTE  "long rows in the registers of a cluster's blocks: read once"
#define PREFETCHED_NOTE                                                                                                \
    "a long row in the shared memory of one SM, and the next row on its way: limited by memory bandwidth"
#define CUDNN_NOTE "cuDNN, its accurate algorithm: limited by memory bandwidth"

static const heddle_rung softmax_forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_softmax_forward_cpu_naive,
     "one row at a time, two calls of exp per element", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_softmax_forward_cpu_rows, ROWS_NOTE, NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per row, three passes: uncoalesced, two calls of exp per element", NULL, NULL},
    {"02_block_a_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL, BLOCK_NOTE, NULL, NULL},
    {"03_online", HEDDLE_CUDA, HEDDLE_TUNED, NULL, ONLINE_NOTE, NULL, NULL},
    {"cudnn", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, REGISTERS_NOTE, NULL, NULL},
    {"05_clusters", HEDDLE_CUDA, HEDDLE_TUNED, NULL, CLUSTERS_NOTE, NULL, NULL, .capability = 90, .pays = is_long},
    {"06_prefetched", HEDDLE_CUDA, HEDDLE_TUNED, NULL, PREFETCHED_NOTE, fits_one_sm, NULL, .capability = 80,
     .pays = are_many_long},
};
static const heddle_rung softmax_backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_softmax_backward_cpu_naive, "one row at a time", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_softmax_backward_cpu_rows, ROWS_NOTE, NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per row, two passes: uncoalesced", NULL, NULL},
    {"cudnn", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, REGISTERS_NOTE, NULL, NULL},
    {"05_clusters", HEDDLE_CUDA, HEDDLE_TUNED, NULL, CLUSTERS_NOTE, NULL, NULL, .capability = 90, .pays = is_long},
};
static const heddle_rung log_softmax_forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_log_softmax_forward_cpu_naive, NAIVE_NOTE, NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_log_softmax_forward_cpu_rows, ROWS_NOTE, NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per row, three passes: uncoalesced", NULL, NULL},
    {"02_block_a_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL, BLOCK_NOTE, NULL, NULL},
    {"03_online", HEDDLE_CUDA, HEDDLE_TUNED, NULL, ONLINE_NOTE, NULL, NULL},
    {"cudnn", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, REGISTERS_NOTE, NULL, NULL},
    {"06_prefetched", HEDDLE_CUDA, HEDDLE_TUNED, NULL, PREFETCHED_NOTE, fits_one_sm, NULL, .capability = 80,
     .pays = are_many_long},
};
static const heddle_rung log_softmax_backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_log_softmax_backward_cpu_naive, NAIVE_NOTE, NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_log_softmax_backward_cpu_rows, ROWS_NOTE, NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per row, two passes: uncoalesced", NULL, NULL},
    {"cudnn", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, REGISTERS_NOTE, NULL, NULL},
    {"05_clusters", HEDDLE_CUDA, HEDDLE_TUNED, NULL, CLUSTERS_NOTE, NULL, NULL, .capability = 90, .pays = is_long},
};

static const heddle_op *const softmax_gradients[] = {&heddle_op_softmax_backward, NULL};
static const heddle_op *const log_softmax_gradients[] = {&heddle_op_log_softmax_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "softmax", .shape_size = sizeof(heddle_rows_shape), HEDDLE_FIELDS(fields), .reduction = reduction,  \
    .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_softmax_forward = {
    .name = "softmax_forward",
    .summary = "each row as probabilities: exp(x) / sum of exp(x)",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = softmax_forward_reference,
    .gradients = softmax_gradients,
    HEDDLE_LADDER(softmax_forward_ladder),
};

const heddle_op heddle_op_softmax_backward = {
    .name = "softmax_backward",
    .summary = "gradient of softmax",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = softmax_backward_reference,
    HEDDLE_LADDER(softmax_backward_ladder),
};

const heddle_op heddle_op_log_softmax_forward = {
    .name = "log_softmax_forward",
    .summary = "logarithm of each row's probabilities",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = log_softmax_forward_reference,
    .gradients = log_softmax_gradients,
    HEDDLE_LADDER(log_softmax_forward_ladder),
};

const heddle_op heddle_op_log_softmax_backward = {
    .name = "log_softmax_backward",
    .summary = "gradient of log_softmax",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = log_softmax_backward_reference,
    HEDDLE_LADDER(log_softmax_backward_ladder),
};
