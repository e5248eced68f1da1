// add and multiply, element by element, and their gradients: costs, references and ladders.

#include "ops/elementwise/elementwise.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

HEDDLE_DIMS(dims_elements, heddle_elements_shape, shape->n)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_INPUT("b", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_elements)},
};

static const heddle_operand add_backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("grad_a", dims_elements), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_b", dims_elements), .optional = true},
};

static const heddle_operand multiply_backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_INPUT("b", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("grad_a", dims_elements), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_b", dims_elements), .optional = true},
};

HEDDLE_COST(forward_cost, forward_operands, heddle_elements_shape, shape->n)
HEDDLE_COST(add_backward_cost, add_backward_operands, heddle_elements_shape, 0)
HEDDLE_COST(multiply_backward_cost, multiply_backward_operands, heddle_elements_shape, 2.0 * shape->n)

static void add_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = input[0][i] + input[1][i];
}

static void add_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++) {
        if (output[0])
            output[0][i] = input[0][i];
        if (output[1])
            output[1][i] = input[0][i];
    }
}

static void multiply_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = input[0][i] * input[1][i];
}

static void multiply_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++) {
        if (output[0])
            output[0][i] = input[2][i] * input[1][i];
        if (output[1])
            output[1][i] = input[2][i] * input[0][i];
    }
}

static const char *const test_shapes[] = {"n=0", "n=1", "n=7", "n=31", "n=64", "n=16387", NULL};
// 1 GiB per operand first; then activations of the CNN, and a size that every rung can handle.
static const char *const bench_shapes[] = {"n=268435456", "n=1605632", "n=6422528", "n=1048576", NULL};

// A loop in one thread or one block is only a lesson: on millions of elements it takes seconds.
HEDDLE_OF_SHAPE(bool, supports_one_thread, heddle_elements_shape, shape->n <= 1 << 20)
HEDDLE_OF_SHAPE(bool, supports_one_block, heddle_elements_shape, shape->n <= 1 << 26)

// Slowest first.
#define GRIDS                                                                                                          \
    {"03_grid", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "all SMs, one thread per element", NULL, NULL},                       \
        {"04_grid_stride",                                                                                             \
         HEDDLE_CUDA,                                                                                                  \
         HEDDLE_TUNED,                                                                                                 \
         NULL,                                                                                                         \
         "enough blocks to fill the GPU once, each looping",                                                           \
         NULL,                                                                                                         \
         NULL},                                                                                                        \
    {                                                                                                                  \
        "05_float4", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "16 bytes per load and store: limited by memory bandwidth",      \
            NULL, NULL                                                                                                 \
    }
#define LADDER(ladder, operator, ...)                                                                                  \
    static const heddle_rung ladder[] = {                                                                              \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##operator##_cpu_naive, "one thread, one element at a time",    \
         NULL, NULL},                                                                                                  \
        {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_##operator##_cpu_vectorised,                               \
         "vector code on all threads: memory-bound", NULL, NULL},                                                      \
        __VA_ARGS__ GRIDS,                                                                                             \
    }
// clang-format off
#define SMALL_STEPS                                                                                                    \
    {"01_one_thread", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread, one element in flight", supports_one_thread, NULL},\
    {"02_one_block", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "1024 threads on one SM", supports_one_block, NULL},
// clang-format on
LADDER(add_forward_ladder, add_forward, SMALL_STEPS);
LADDER(add_backward_ladder, add_backward);
LADDER(multiply_forward_ladder, multiply_forward);
LADDER(multiply_backward_ladder, multiply_backward);

static const heddle_op *const add_gradients[] = {&heddle_op_add_backward, NULL};
static const heddle_op *const multiply_gradients[] = {&heddle_op_multiply_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "elementwise", .shape_size = sizeof(heddle_elements_shape), HEDDLE_FIELDS(fields),                  \
    .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_add_forward = {
    .name = "add_forward",
    .summary = "a + b, element by element",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = add_forward_reference,
    .gradients = add_gradients,
    HEDDLE_LADDER(add_forward_ladder),
};

const heddle_op heddle_op_add_backward = {
    .name = "add_backward",
    .summary = "gradients of a + b",
    SHARED,
    HEDDLE_OPERANDS(add_backward_operands),
    .cost = add_backward_cost,
    .reference = add_backward_reference,
    .exactness = HEDDLE_EXACT,
    HEDDLE_LADDER(add_backward_ladder),
};

const heddle_op heddle_op_multiply_forward = {
    .name = "multiply_forward",
    .summary = "a * b, element by element",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = multiply_forward_reference,
    .gradients = multiply_gradients,
    HEDDLE_LADDER(multiply_forward_ladder),
};

const heddle_op heddle_op_multiply_backward = {
    .name = "multiply_backward",
    .summary = "gradients of a * b",
    SHARED,
    HEDDLE_OPERANDS(multiply_backward_operands),
    .cost = multiply_backward_cost,
    .reference = multiply_backward_reference,
    HEDDLE_LADDER(multiply_backward_ladder),
};
