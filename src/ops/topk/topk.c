// topk: the k largest elements of each row and where they stand. Its cost, reference and ladder.

#include "ops/topk/topk.h"

#include "ops/define.h"

typedef heddle_topk_shape topk_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(topk_shape, rows, "rows")},
    {HEDDLE_REQUIRED_INT(topk_shape, cols, "elements of a row")},
    {HEDDLE_REQUIRED_INT(topk_shape, k, "how many of each row, at most 64 and at most cols")},
};

HEDDLE_DIMS(dims_input, topk_shape, shape->rows, shape->cols)
HEDDLE_DIMS(dims_best, topk_shape, shape->rows, shape->k)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("values", dims_best)},
    {.name = "indices", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_best},
};

static heddle_status validate(const void *shape_)
{
    const topk_shape *shape = shape_;
    if (shape->rows < 0)
        return heddle_fail(HEDDLE_INVALID, "topk: rows=%d must not be negative", shape->rows);
    if (shape->k < 1 || shape->k > HEDDLE_TOPK_MOST || shape->k > shape->cols)
        return heddle_fail(HEDDLE_INVALID, "topk: k=%d of cols=%d: k is at least 1, at most cols and at most %d",
                           shape->k, shape->cols, HEDDLE_TOPK_MOST);
    return HEDDLE_OK;
}

// At least one comparison per element.
HEDDLE_COST(cost, operands, topk_shape, (double)shape->rows * shape->cols)

// NaN is above all numbers.
static bool is_above(double a, double b)
{
    return a > b || (isnan(a) && !isnan(b));
}

// Elements come in the order of their indices and go behind all that they are not above. One pass, as rows are long.
static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const topk_shape *shape = shape_;
    for (size_t r = 0; r < (size_t)shape->rows; r++) {
        const double *row = input[0] + r * (size_t)shape->cols;
        double *values = output[0] + r * (size_t)shape->k, *indices = output[1] + r * (size_t)shape->k;
        int count = 0;
        for (int j = 0; j < shape->cols; j++) {
            int place = count;
            while (place > 0 && is_above(row[j], values[place - 1]))
                place--;
            count += count < shape->k;
            for (int i = count - 1; i > place; i--) {
                values[i] = values[i - 1];
                indices[i] = indices[i - 1];
            }
            if (place < shape->k) {
                values[place] = row[j];
                indices[place] = j;
            }
        }
    }
}

static const char *const test_shapes[] = {
    "rows=0 cols=5 k=2",   "rows=1 cols=1 k=1",   "rows=3 cols=2 k=2",    "rows=37 cols=7 k=3",   "rows=9 cols=64 k=33",
    "rows=2 cols=64 k=64", "rows=3 cols=257 k=1", "rows=2 cols=601 k=64", "rows=1 cols=2051 k=5", NULL};
// Sampling from GPT-2's vocabulary first; choosing experts; candidates of a beam; one long row.
static const char *const bench_shapes[] = {"rows=8192 cols=50257 k=50", "rows=262144 cols=256 k=8",
                                           "rows=1024 cols=32000 k=64", "rows=1 cols=16777216 k=10", NULL};

// One thread makes about a billion comparisons per second.
HEDDLE_OF_SHAPE(bool, supports_passes, topk_shape, (double)shape->rows * shape->cols * shape->k <= 1e9)

// A warp sorts candidates in nearly every step of a short row, and seldom in a long one; but then it is alone with it.
HEDDLE_OF_SHAPE(bool, is_long, topk_shape, shape->cols > 4096)

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_topk_cpu_naive, "one thread, k passes over each row",
     supports_passes, NULL},
    {"cpu_threshold", HEDDLE_CPU, HEDDLE_TUNED, heddle_topk_cpu_threshold,
     "rows over the threads, one pass: only what beats the worst of the best is sorted in", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one block per row, k passes, a tree in each", NULL, NULL},
    {"02_warp_select", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one warp per row, one pass: the best 64 stay sorted in registers", NULL, NULL},
    {"03_radix_select", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one block per row counts digits to find the last of the best: four passes, no sorting", NULL, NULL,
     .pays = is_long},
};

const heddle_op heddle_op_topk = {
    .name = "topk",
    .ladder_name = "topk",
    .summary = "the k largest elements of each row, largest first, and where they stand",
    .shape_size = sizeof(topk_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
