// dot: the sum of x * y. Its cost, reference and ladder.

#include "ops/dot/dot.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

HEDDLE_DIMS(dims_elements, heddle_elements_shape, shape->n)
HEDDLE_DIMS(dims_one, void, 1)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("x", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_INPUT("y", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_one)},
};

HEDDLE_COST(cost, operands, heddle_elements_shape, 2.0 * shape->n)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    output[0][0] = 0;
    for (int i = 0; i < shape->n; i++)
        output[0][0] += input[0][i] * input[1][i];
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_elements_shape, shape->n)

// The last is two whole tiles of 03_vectorised and a ragged end.
static const char *const test_shapes[] = {"n=0", "n=1", "n=7", "n=31", "n=257", "n=1024", "n=16411", NULL};
// 1 GiB per operand first; then a layer's weights, and a vector of a solver.
static const char *const bench_shapes[] = {"n=268435456", "n=16777216", "n=1048576", NULL};

// One sum per block of 03_vectorised, which has at least a tile of 8192 elements.
HEDDLE_WORKSPACE(blocks_workspace, heddle_elements_shape, (size_t)shape->n / 8192 * sizeof(float))

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_dot_cpu_naive,
     "one thread, one running sum: the latency of one addition per element", NULL, NULL},
    {"cpu_pieces", HEDDLE_CPU, HEDDLE_TUNED, heddle_dot_cpu_pieces,
     "fixed pieces on all threads, added in order: memory-bound", NULL, heddle_dot_cpu_pieces_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one tree per 256 elements in shared memory, one atomic per tree",
     NULL, NULL, .unordered = true},
    {"02_shuffle", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "lanes exchange registers by shuffles: one barrier per block", NULL,
     NULL, .unordered = true},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS, cublasSdot: limited by memory bandwidth", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"03_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "many elements per thread, 16 bytes per load, two passes: limited by memory bandwidth", NULL, blocks_workspace},
};

const heddle_op heddle_op_dot = {
    .name = "dot",
    .ladder_name = "dot",
    .summary = "the sum of x * y over all elements",
    .shape_size = sizeof(heddle_elements_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
