// sum and mean over all elements, and their gradients: costs, references and ladders.

#include "ops/reduction/reduction.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

HEDDLE_DIMS(dims_elements, heddle_elements_shape, shape->n)
HEDDLE_DIMS(dims_one, void, 1)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_one)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_one)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_elements)},
};

static heddle_status mean_validate(const void *shape_)
{
    const heddle_elements_shape *shape = shape_;
    if (shape->n < 1)
        return heddle_fail(HEDDLE_INVALID, "mean: the mean of %d elements is undefined; give at least 1", shape->n);
    return HEDDLE_OK;
}

HEDDLE_COST(forward_cost, forward_operands, heddle_elements_shape, shape->n)
HEDDLE_COST(backward_cost, backward_operands, heddle_elements_shape, 0)

static void sum_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    output[0][0] = 0;
    for (int i = 0; i < shape->n; i++)
        output[0][0] += input[0][i];
}

static void sum_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = input[0][0];
}

static void mean_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    sum_forward_reference(shape, input, output);
    output[0][0] /= shape->n;
}

static void mean_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = input[0][0] / shape->n;
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_elements_shape, shape->n)

static const char *const sum_test_shapes[] = {"n=0", "n=1", "n=7", "n=31", "n=64", "n=16387", "n=100003", NULL};
static const char *const mean_test_shapes[] = {"n=1", "n=7", "n=31", "n=64", "n=16387", "n=100003", NULL};
// 1 GiB first; then a batch's activations, and a size that every rung can handle.
static const char *const bench_shapes[] = {"n=268435456", "n=6422528", "n=1048576", NULL};

// One thread adds a few hundred million elements per minute.
HEDDLE_OF_SHAPE(bool, supports_one_thread, heddle_elements_shape, shape->n <= 1 << 24)

// For rungs that add in levels (levels.h): sums of tiles of 256 elements, then of tiles of those sums.
static size_t levels_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { TILE = 256 };
    const heddle_elements_shape *shape = shape_;
    size_t sums = 0;
    for (size_t n = (size_t)shape->n; n > 1; n = (n + TILE - 1) / TILE)
        sums += (n + TILE - 1) / TILE;
    return sums * sizeof(float);
}

// Slowest first. `vendors`: a vendor's rung.
#define CUB_SUM                                                                                                        \
    {"cub", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "CUB, DeviceReduce::Sum: limited by memory bandwidth", NULL, NULL},
#define FORWARD_LADDER(name, vendors)                                                                                  \
    static const heddle_rung name##_forward_ladder[] = {                                                               \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##name##_forward_cpu_naive,                                     \
         "one thread, one running sum: the latency of one addition per element", NULL, NULL},                          \
        {"cpu_pieces", HEDDLE_CPU, HEDDLE_TUNED, heddle_##name##_forward_cpu_pieces,                                   \
         "fixed pieces on all threads, added in order: memory-bound", NULL,                                            \
         heddle_reduction_forward_cpu_pieces_workspace},                                                               \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,                                                                  \
         "one thread adds everything: the latency of one addition per element", supports_one_thread, NULL},            \
        {"02_atomics", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "all threads add to one address", NULL, NULL,                  \
         .unordered = true},                                                                                           \
        {"03_shared_divergent", HEDDLE_CUDA, HEDDLE_TUNED, NULL,                                                       \
         "a tree in shared memory with active lanes far apart", NULL, levels_workspace},                               \
        {"04_shared_sequential", HEDDLE_CUDA, HEDDLE_TUNED, NULL,                                                      \
         "the tree folded in halves: whole warps work or skip the round", NULL, levels_workspace},                     \
        {"05_shuffle", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "lanes exchange registers by shuffles: one barrier", NULL,     \
         levels_workspace},                                                                                            \
        vendors{"06_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "many elements per thread, 16 bytes per load", NULL, \
                levels_workspace},                                                                                     \
    }
#define BACKWARD_LADDER(name)                                                                                          \
    static const heddle_rung name##_backward_ladder[] = {                                                              \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##name##_backward_cpu_naive,                                    \
         "one thread, one element at a time", NULL, NULL},                                                             \
        {"cpu_pieces", HEDDLE_CPU, HEDDLE_TUNED, heddle_##name##_backward_cpu_pieces,                                  \
         "vector stores on all threads: memory-bound", NULL, NULL},                                                    \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: memory-bound", NULL, NULL},             \
        {"06_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "16 bytes per store: limited by memory bandwidth", NULL,    \
         NULL},                                                                                                        \
    }
FORWARD_LADDER(sum, CUB_SUM);
BACKWARD_LADDER(sum);
FORWARD_LADDER(mean, );
BACKWARD_LADDER(mean);

static const heddle_op *const sum_gradients[] = {&heddle_op_sum_backward, NULL};
static const heddle_op *const mean_gradients[] = {&heddle_op_mean_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "reduction", .shape_size = sizeof(heddle_elements_shape), HEDDLE_FIELDS(fields),                    \
    .bench_shapes = bench_shapes

const heddle_op heddle_op_sum_forward = {
    .name = "sum_forward",
    .summary = "sum of all elements",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = sum_forward_reference,
    .exactness = HEDDLE_SUMS,
    .reduction = reduction,
    .test_shapes = sum_test_shapes,
    .gradients = sum_gradients,
    HEDDLE_LADDER(sum_forward_ladder),
};

const heddle_op heddle_op_sum_backward = {
    .name = "sum_backward",
    .summary = "gradient of the sum: the same for every element",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = sum_backward_reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = sum_test_shapes,
    HEDDLE_LADDER(sum_backward_ladder),
};

const heddle_op heddle_op_mean_forward = {
    .name = "mean_forward",
    .summary = "mean of all elements",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .validate = mean_validate,
    .cost = forward_cost,
    .reference = mean_forward_reference,
    .reduction = reduction,
    .test_shapes = mean_test_shapes,
    .gradients = mean_gradients,
    HEDDLE_LADDER(mean_forward_ladder),
};

const heddle_op heddle_op_mean_backward = {
    .name = "mean_backward",
    .summary = "gradient of the mean: the same for every element",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .validate = mean_validate,
    .cost = backward_cost,
    .reference = mean_backward_reference,
    .test_shapes = mean_test_shapes,
    HEDDLE_LADDER(mean_backward_ladder),
};
