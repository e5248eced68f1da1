// transpose: output[c][r] = input[r][c]. Its cost, its reference, and the ladder that climbs to the speed of a copy.

#include "ops/transpose/transpose.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, rows, "rows of the input, columns of the output")},
    {HEDDLE_REQUIRED_INT(heddle_rows_shape, cols, "columns of the input, rows of the output")},
};

HEDDLE_DIMS(dims_input, heddle_rows_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_output, heddle_rows_shape, shape->cols, shape->rows)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output)},
};

HEDDLE_COST(cost, operands, heddle_rows_shape, 0)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_shape *shape = shape_;
    for (int row = 0; row < shape->rows; row++)
        for (int col = 0; col < shape->cols; col++)
            output[0][(size_t)col * shape->rows + row] = input[0][(size_t)row * shape->cols + col];
}

static const char *const test_shapes[] = {"rows=0 cols=3",    "rows=3 cols=0",    "rows=1 cols=1",    "rows=1 cols=67",
                                          "rows=131 cols=1",  "rows=31 cols=33",  "rows=64 cols=64",  "rows=97 cols=61",
                                          "rows=68 cols=132", "rows=72 cols=132", "rows=301 cols=36", NULL};
// 1 GiB first.
static const char *const bench_shapes[] = {"rows=16384 cols=16384", "rows=4096 cols=4096", "rows=1000 cols=999",
                                           "rows=1048576 cols=64", NULL};

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_transpose_cpu_naive,
     "row by row: every store touches another cache line", NULL, NULL},
    {"cpu_blocked", HEDDLE_CPU, HEDDLE_TUNED, heddle_transpose_cpu_blocked,
     "blocks that fit in the cache, on all threads", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: a warp's stores go to 32 places", NULL,
     NULL},
    {"02_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "transposed in shared memory: all 32 lanes hit one bank", NULL, NULL},
    {"03_padded_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one column of padding: no bank conflicts", NULL, NULL},
    {"04_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "16 bytes per load and store, four of each in flight", NULL,
     NULL},
};

const heddle_op heddle_op_transpose = {
    .name = "transpose",
    .ladder_name = "transpose",
    .summary = "swap the rows and columns of a matrix",
    .shape_size = sizeof(heddle_rows_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
