// embedding: rows of a table by their numbers, and the gradient, which adds rows up where a number stands more than
// once. Its costs, references and ladders.

#include "ops/embedding/embedding.h"

#include "ops/define.h"

typedef heddle_embedding_shape embedding_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(embedding_shape, n, "tokens")},
    {HEDDLE_REQUIRED_INT(embedding_shape, vocabulary, "rows of the table")},
    {HEDDLE_REQUIRED_INT(embedding_shape, cols, "columns of the table")},
};

HEDDLE_DIMS(dims_tokens, embedding_shape, shape->n)
HEDDLE_DIMS(dims_table, embedding_shape, shape->vocabulary, shape->cols)
HEDDLE_DIMS(dims_rows, embedding_shape, shape->n, shape->cols)
HEDDLE_OF_SHAPE(int, limit_tokens, embedding_shape, shape->vocabulary)

#define TOKENS                                                                                                         \
    .name = "tokens", .role = HEDDLE_INPUT, .dtype = HEDDLE_I64, .values = HEDDLE_VALUES_LABELS, .dims = dims_tokens,  \
    .limit = limit_tokens

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("table", HEDDLE_VALUES_NORMAL, dims_table)},
    {TOKENS},
    {HEDDLE_FLOAT_OUTPUT("output", dims_rows)},
};

static const heddle_operand backward_operands[] = {
    {TOKENS},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_rows)},
    {HEDDLE_FLOAT_OUTPUT("grad_table", dims_table)},
};

static heddle_status validate(const void *shape_)
{
    const embedding_shape *shape = shape_;
    if (shape->n < 0 || shape->cols < 0 || shape->vocabulary < 1)
        return heddle_fail(HEDDLE_INVALID, "embedding: n=%d vocabulary=%d cols=%d: the table needs at least one row",
                           shape->n, shape->vocabulary, shape->cols);
    return HEDDLE_OK;
}

// Forward, of the table only the rows that are asked for are read, at most one per token.
static heddle_cost forward_cost(const void *shape_)
{
    const embedding_shape *shape = shape_;
    double rows = shape->n < shape->vocabulary ? shape->n : shape->vocabulary;
    return (heddle_cost){.bytes_read = sizeof(float) * rows * shape->cols + sizeof(int64_t) * (double)shape->n,
                         .bytes_written = sizeof(float) * (double)shape->n * shape->cols};
}

HEDDLE_COST(backward_cost, backward_operands, embedding_shape, (double)shape->n * shape->cols)

heddle_status heddle_embedding_check_tokens(const embedding_shape *shape, const int64_t *tokens)
{
    for (int i = 0; i < shape->n; i++)
        if (tokens[i] < 0 || tokens[i] >= shape->vocabulary)
            return heddle_fail(HEDDLE_INVALID,
                               "embedding: row %d has token %lld, but the table's rows are 0 to %d: check the tokens",
                               i, (long long)tokens[i], shape->vocabulary - 1);
    return HEDDLE_OK;
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const embedding_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->n; i++)
        for (size_t j = 0; j < (size_t)shape->cols; j++)
            output[0][i * shape->cols + j] = input[0][(size_t)input[1][i] * shape->cols + j];
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const embedding_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->vocabulary * shape->cols; i++)
        output[0][i] = 0;
    for (size_t i = 0; i < (size_t)shape->n; i++)
        for (size_t j = 0; j < (size_t)shape->cols; j++)
            output[0][(size_t)input[0][i] * shape->cols + j] += input[1][i * shape->cols + j];
}

HEDDLE_OF_SHAPE(int64_t, backward_reduction, embedding_shape, shape->n)

// Every row in use and few of them, one byte of a token and two, tokens in one tile and in several.
static const char *const test_shapes[] = {"n=0 vocabulary=3 cols=5",     "n=3 vocabulary=2 cols=0",
                                          "n=1 vocabulary=1 cols=1",     "n=7 vocabulary=5 cols=3",
                                          "n=31 vocabulary=300 cols=4",  "n=300 vocabulary=3 cols=17",
                                          "n=37 vocabulary=11 cols=36",  "n=5 vocabulary=3 cols=1031",
                                          "n=600 vocabulary=700 cols=2", NULL};
// GPT-2's table at 8 sequences of 1024 tokens; Llama's; a small vocabulary, whose rows are used again and again.
static const char *const bench_shapes[] = {"n=8192 vocabulary=50257 cols=768", "n=16384 vocabulary=32000 cols=4096",
                                           "n=65536 vocabulary=256 cols=512", "n=8192 vocabulary=50257 cols=767", NULL};

// Keys and positions, twice each, and a count per digit and tile.
HEDDLE_WORKSPACE(sort_workspace, embedding_shape,
                 ((size_t)4 * (size_t)shape->n + (size_t)HEDDLE_EMBEDDING_DIGITS * heddle_embedding_tiles(shape)) *
                     sizeof(int32_t))

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_embedding_forward_cpu_naive, "one thread, one element at a time",
     NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_embedding_forward_cpu_rows,
     "rows over the threads, each copied at once: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: a token and a division for 4 bytes", NULL,
     NULL},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one warp per row, 16 bytes per access: limited by memory bandwidth", NULL, NULL},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_embedding_backward_cpu_naive,
     "one thread adds one row after another", NULL, NULL},
    {"cpu_columns", HEDDLE_CPU, HEDDLE_TUNED, heddle_embedding_backward_cpu_columns,
     "strips of columns over the threads: memory-bound", NULL, NULL},
    {"01_atomics", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one atomic per element, after the table was set to zero", NULL,
     NULL, .unordered = true},
    {"02_sorted", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "tokens sorted, then one block per row of the table adds its own: no atomics, the same bits every time", NULL,
     sort_workspace},
};

static const heddle_op *const gradients[] = {&heddle_op_embedding_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "embedding", .shape_size = sizeof(embedding_shape), HEDDLE_FIELDS(fields), .validate = validate,    \
    .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_embedding_forward = {
    .name = "embedding_forward",
    .summary = "the table's row of each token",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .exactness = HEDDLE_EXACT,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_embedding_backward = {
    .name = "embedding_backward",
    .summary = "gradient of the table: each of its rows adds up the gradients of its tokens",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .exactness = HEDDLE_SUMS,
    .reduction = backward_reduction,
    HEDDLE_LADDER(backward_ladder),
};
