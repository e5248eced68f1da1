// token_loss: -log softmax(logits)[label] of each row, its gradient, and both in one pass over the logits. Nothing as
// large as the logits is saved: backward computes the probabilities again from each row's log of its sum. Its cost,
// reference and ladder.

#include "ops/token_loss/token_loss.h"

#include <math.h>

#include "ops/define.h"

typedef heddle_token_loss_shape loss_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(loss_shape, rows, "tokens")},
    {HEDDLE_REQUIRED_INT(loss_shape, cols, "words of the vocabulary")},
    {HEDDLE_OPTIONAL_FLOAT(loss_shape, ignored, -100, "label of rows that do not count")},
};

HEDDLE_DIMS(dims_logits, loss_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_rows, loss_shape, shape->rows)
HEDDLE_DIMS(dims_one, void, 1)

#define LABELS                                                                                                         \
    .name = "labels", .role = HEDDLE_INPUT, .dtype = HEDDLE_I64, .values = HEDDLE_VALUES_OWN, .dims = dims_rows

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("logits", HEDDLE_VALUES_NORMAL, dims_logits)},
    {LABELS},
    {HEDDLE_FLOAT_OUTPUT("losses", dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("log_sums", dims_rows), .saved = true},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("logits", HEDDLE_VALUES_NORMAL, dims_logits)},
    {LABELS},
    {HEDDLE_FLOAT_INPUT("log_sums", HEDDLE_VALUES_SAVED, dims_rows)},
    {HEDDLE_FLOAT_INPUT("grad_losses", HEDDLE_VALUES_NORMAL, dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("grad_logits", dims_logits)},
};

static const heddle_operand both_operands[] = {
    {HEDDLE_FLOAT_INPUT("logits", HEDDLE_VALUES_NORMAL, dims_logits)},
    {LABELS},
    {HEDDLE_FLOAT_INPUT("factor", HEDDLE_VALUES_NORMAL, dims_one)},
    {HEDDLE_FLOAT_OUTPUT("losses", dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("gradient", dims_logits)},
};

static heddle_status validate(const void *shape_)
{
    const loss_shape *shape = shape_;
    if (shape->rows < 0 || shape->cols < 1)
        return heddle_fail(HEDDLE_INVALID, "token_loss of rows=%d cols=%d: a row needs at least one word", shape->rows,
                           shape->cols);
    return HEDDLE_OK;
}

// Of every four rows one is ignored; the labels of the others are anywhere in the vocabulary.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const loss_shape *shape = shape_;
    (void)operand;
    for (int i = 0; i < shape->rows; i++)
        values[i] = i % 4 == 2 ? shape->ignored : (double)((seed % 1009 + (uint64_t)i * 7919) % (uint64_t)shape->cols);
}

HEDDLE_COST(forward_cost, forward_operands, loss_shape, 4.0 * shape->rows * shape->cols)
HEDDLE_COST(backward_cost, backward_operands, loss_shape, 4.0 * shape->rows * shape->cols)
HEDDLE_COST(both_cost, both_operands, loss_shape, 8.0 * shape->rows * shape->cols)

// --- reference ------------------------------------------------------------------------------------------------------

static double log_sum(const double *x, int cols)
{
    double most = x[0];
    for (int j = 1; j < cols; j++)
        most = fmax(most, x[j]);
    double sum = exp(x[0] - most);
    for (int j = 1; j < cols; j++)
        sum += exp(x[j] - most);
    return most + log(sum);
}

static void gradient_row(const loss_shape *shape, const double *x, double label, double sum, double factor, double *y)
{
    for (int j = 0; j < shape->cols; j++)
        y[j] = label == shape->ignored ? 0 : (exp(x[j] - sum) - (j == (int)label)) * factor;
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const loss_shape *shape = shape_;
    for (int i = 0; i < shape->rows; i++) {
        const double *x = input[0] + (size_t)i * shape->cols, label = input[1][i];
        output[1][i] = log_sum(x, shape->cols);
        output[0][i] = label == shape->ignored ? 0 : output[1][i] - x[(int)label];
    }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const loss_shape *shape = shape_;
    for (int i = 0; i < shape->rows; i++) {
        size_t at = (size_t)i * shape->cols;
        gradient_row(shape, input[0] + at, input[1][i], input[2][i], input[3][i], output[0] + at);
    }
}

static void both_reference(const void *shape_, const double *const *input, double *const *output)
{
    const loss_shape *shape = shape_;
    for (int i = 0; i < shape->rows; i++) {
        size_t at = (size_t)i * shape->cols;
        const double *x = input[0] + at, label = input[1][i], sum = log_sum(x, shape->cols);
        output[0][i] = label == shape->ignored ? 0 : sum - x[(int)label];
        gradient_row(shape, x, label, sum, input[2][0], output[1] + at);
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, loss_shape, shape->cols)

// Rows that begin at every place of a vector of four; one that does not fit into shared memory.
static const char *const test_shapes[] = {"rows=0 cols=5",
                                          "rows=1 cols=1",
                                          "rows=3 cols=2",
                                          "rows=7 cols=10",
                                          "rows=300 cols=3 ignored=1",
                                          "rows=5 cols=33",
                                          "rows=9 cols=1009",
                                          "rows=3 cols=256",
                                          "rows=2 cols=4096",
                                          "rows=5 cols=8195",
                                          "rows=1 cols=65537",
                                          NULL};
// GPT-2's vocabulary, at 8 sequences of 512 and of 1024 tokens; Llama's.
static const char *const bench_shapes[] = {"rows=4096 cols=50257", "rows=8192 cols=50257", "rows=8192 cols=32000",
                                           NULL};

// Slowest first.
#define LADDER(way, naive, tuned_name, tuned_note)                                                                     \
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_token_loss_##way##_cpu_naive,                                       \
     "one row after another, one element at a time"},                                                                  \
        {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_token_loss_##way##_cpu_rows,                                     \
         "rows over the threads, vectors along each row: limited by exp's polynomial"},                                \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, (naive)},                                                        \
    {                                                                                                                  \
        (tuned_name), HEDDLE_CUDA, HEDDLE_TUNED, NULL, (tuned_note)                                                    \
    }

static const heddle_rung forward_ladder[] = {
    LADDER(forward, "one thread per row, two passes: uncoalesced, few threads", "02_online",
           "largest value and sum in one pass of a block, 16 bytes per load: limited by memory bandwidth"),
};
static const heddle_rung backward_ladder[] = {
    LADDER(backward, "one thread per element, 4 bytes per access", "02_online",
           "one block per row, 16 bytes per access: limited by memory bandwidth"),
};
static const heddle_rung both_ladder[] = {
    LADDER(both, "one thread per row, three passes: uncoalesced, few threads", "02_row_in_shared",
           "the row waits in shared memory for its sum: read once, written once; limited by memory bandwidth"),
};

static const heddle_op *const gradients[] = {&heddle_op_token_loss_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "token_loss", .shape_size = sizeof(loss_shape), HEDDLE_FIELDS(fields), .validate = validate,        \
    .fill = fill, .reduction = reduction, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_token_loss_forward = {
    .name = "token_loss_forward",
    .summary = "-log softmax(logits)[label] of each row; rows with the ignored label have none",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_token_loss_backward = {
    .name = "token_loss_backward",
    .summary = "gradient of token_loss, from the logits and the logs of their sums",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    HEDDLE_LADDER(backward_ladder),
};

const heddle_op heddle_op_token_loss_both = {
    .name = "token_loss_both",
    .summary = "token_loss, and its gradient times one factor, in one pass over the logits",
    SHARED,
    HEDDLE_OPERANDS(both_operands),
    .cost = both_cost,
    .reference = both_reference,
    HEDDLE_LADDER(both_ladder),
};
