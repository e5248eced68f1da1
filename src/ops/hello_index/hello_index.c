// hello_index: writes, for every element, which thread of which block handles it. It is the first kernel everyone
// writes, and the formula behind all others: index = block * threads per block + thread.

#include "ops/hello_index/hello_index.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_hello_index_shape, n, "elements")},
    {HEDDLE_OPTIONAL_INT(heddle_hello_index_shape, threads, 256, "threads per block")},
};

HEDDLE_DIMS(dims, heddle_hello_index_shape, shape->n)

#define INTEGERS(text) .name = (text), .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims
static const heddle_operand operands[] = {{INTEGERS("index")}, {INTEGERS("block")}, {INTEGERS("thread")}};

static heddle_status validate(const void *shape_)
{
    enum { MOST_THREADS = 1024 };
    const heddle_hello_index_shape *shape = shape_;
    if (shape->threads < 1 || shape->threads > MOST_THREADS)
        return heddle_fail(HEDDLE_INVALID, "hello_index: a block has 1 to %d threads, not %d", MOST_THREADS,
                           shape->threads);
    return HEDDLE_OK;
}

HEDDLE_COST(cost, operands, heddle_hello_index_shape, 0)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    (void)input;
    const heddle_hello_index_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++) {
        output[0][i] = i;
        output[1][i] = i / shape->threads;
        output[2][i] = i % shape->threads;
    }
}

static const char *const test_shapes[] = {"n=0", "n=1", "n=31 threads=7", "n=1000", "n=257 threads=1024", NULL};
static const char *const bench_shapes[] = {"n=67108864", NULL};

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_hello_index_cpu_naive,
     "a loop over threads inside a loop over blocks", NULL, NULL},
    {"01_hello_index", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "every thread writes its own position", NULL, NULL},
};

const heddle_op heddle_op_hello_index = {
    .name = "hello_index",
    .ladder_name = "hello_index",
    .summary = "which thread of which block handles each element",
    .shape_size = sizeof(heddle_hello_index_shape),
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
