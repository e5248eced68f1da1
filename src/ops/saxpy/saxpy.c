// saxpy: y = alpha * x + y. Its cost, reference and ladder.

#include "ops/saxpy/saxpy.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_saxpy_shape, n, "elements")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_saxpy_shape, alpha, 2, "factor of x")},
};

HEDDLE_DIMS(dims, heddle_saxpy_shape, shape->n)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("x", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_UPDATE("y", HEDDLE_VALUES_NORMAL, dims)},
};

HEDDLE_COST(cost, operands, heddle_saxpy_shape, 2.0 * shape->n)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_saxpy_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] += shape->alpha * input[0][i];
}

static const char *const test_shapes[] = {"n=0", "n=1", "n=31", "n=33 alpha=0", "n=1027 alpha=-0.5", NULL};
static const char *const bench_shapes[] = {"n=268435456", "n=1048576", NULL}; // 1 GiB first

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_saxpy_cpu_naive, "one thread, one element at a time", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element", NULL, NULL},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS, cublasSaxpy: limited by memory bandwidth", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"02_float4", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "16 bytes per load and store: limited by memory bandwidth", NULL,
     NULL},
};

const heddle_op heddle_op_saxpy = {
    .name = "saxpy",
    .ladder_name = "saxpy",
    .summary = "y = alpha * x + y",
    .shape_size = sizeof(heddle_saxpy_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
