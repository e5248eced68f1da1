// gemv: a matrix times a vector. Its cost, reference and ladder.

#include "ops/gemv/gemv.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_gemv_shape, m, "rows of a")},
    {HEDDLE_REQUIRED_INT(heddle_gemv_shape, n, "columns of a")},
    {HEDDLE_OPTIONAL_INT(heddle_gemv_shape, transpose, 0, "1: y = aᵀ x")},
};

HEDDLE_DIMS(dims_a, heddle_gemv_shape, shape->m, shape->n)
HEDDLE_DIMS(dims_x, heddle_gemv_shape, heddle_gemv_length(shape))
HEDDLE_DIMS(dims_y, heddle_gemv_shape, heddle_gemv_outputs(shape))

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, dims_a)},
    {HEDDLE_FLOAT_INPUT("x", HEDDLE_VALUES_NORMAL, dims_x)},
    {HEDDLE_FLOAT_OUTPUT("y", dims_y)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_gemv_shape *shape = shape_;
    if (shape->m < 0 || shape->n < 0)
        return heddle_fail(HEDDLE_INVALID, "gemv: m=%d n=%d: neither may be negative", shape->m, shape->n);
    if (shape->transpose != 0 && shape->transpose != 1)
        return heddle_fail(HEDDLE_INVALID, "gemv: transpose is 0 or 1, not %d", shape->transpose);
    return HEDDLE_OK;
}

HEDDLE_COST(cost, operands, heddle_gemv_shape, 2.0 * shape->m * shape->n)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_gemv_shape *shape = shape_;
    for (int i = 0; i < heddle_gemv_outputs(shape); i++)
        output[0][i] = 0;
    for (int row = 0; row < shape->m; row++)
        for (int col = 0; col < shape->n; col++)
            output[0][shape->transpose ? col : row] +=
                input[0][(size_t)row * shape->n + col] * input[1][shape->transpose ? row : col];
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_gemv_shape, heddle_gemv_length(shape))

// Rows that begin at every place of a vector of four, sums in one part and in several.
static const char *const test_shapes[] = {"m=0 n=5",
                                          "m=3 n=0",
                                          "m=1 n=1",
                                          "m=5 n=2",
                                          "m=13 n=31",
                                          "m=37 n=64",
                                          "m=9 n=132",
                                          "m=2 n=4100",
                                          "m=3 n=2053",
                                          "m=0 n=5 transpose=1",
                                          "m=3 n=0 transpose=1",
                                          "m=1 n=1 transpose=1",
                                          "m=31 n=13 transpose=1",
                                          "m=17 n=260 transpose=1",
                                          "m=200 n=20 transpose=1",
                                          "m=300 n=7 transpose=1",
                                          NULL};
// 1 GiB first; a language model's layer, for one token; few rows, and few columns.
static const char *const bench_shapes[] = {"m=16384 n=16384",
                                           "m=16384 n=16384 transpose=1",
                                           "m=4096 n=4096",
                                           "m=4096 n=4096 transpose=1",
                                           "m=16 n=4194304",
                                           "m=4194304 n=16",
                                           "m=4194304 n=16 transpose=1",
                                           "m=16384 n=16383",
                                           "m=16384 n=16383 transpose=1",
                                           NULL};

HEDDLE_WORKSPACE(parts_workspace, heddle_gemv_shape,
                 heddle_gemv_parts(shape) > 1
                     ? (size_t)heddle_gemv_parts(shape) * (size_t)heddle_gemv_outputs(shape) * sizeof(float)
                     : 0)

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_gemv_cpu_naive,
     "one thread, one running sum: the latency of one addition per element", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_gemv_cpu_rows,
     "rows, or strips of columns, over the threads: memory-bound", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element of y: uncoalesced, or transposed with few threads", NULL, NULL},
    {"02_warp_per_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one warp per row, or eight per 32 columns: coalesced, 4 bytes per load", NULL, NULL},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS, cublasSgemv: limited by memory bandwidth", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"03_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "16 bytes per load, several rows per warp, long sums in parts: limited by memory bandwidth", NULL,
     parts_workspace},
};

const heddle_op heddle_op_gemv = {
    .name = "gemv",
    .ladder_name = "gemv",
    .summary = "a matrix, or its transpose, times a vector",
    .shape_size = sizeof(heddle_gemv_shape),
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
