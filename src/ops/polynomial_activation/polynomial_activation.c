// polynomial_activation: a polynomial of each element, by default the course's x² + x + 1, and its gradient. Its cost,
// reference and ladder.

#include "ops/polynomial_activation/polynomial_activation.h"

#include "ops/define.h"

typedef heddle_polynomial_activation_shape activation_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(activation_shape, n, "elements")},
    {HEDDLE_OPTIONAL_INT(activation_shape, degree, 2, "highest power of x, at most 7")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c0, 1, "coefficient of 1")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c1, 1, "coefficient of x")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c2, 1, "coefficient of x^2")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c3, 0, "coefficient of x^3")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c4, 0, "coefficient of x^4")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c5, 0, "coefficient of x^5")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c6, 0, "coefficient of x^6")},
    {HEDDLE_OPTIONAL_FLOAT(activation_shape, c7, 0, "coefficient of x^7")},
};

HEDDLE_DIMS(dims, activation_shape, shape->n)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_OUTPUT("output", dims)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims)},
};

static heddle_status validate(const void *shape_)
{
    const activation_shape *shape = shape_;
    if (shape->n < 0)
        return heddle_fail(HEDDLE_INVALID, "polynomial_activation of %d elements", shape->n);
    if (shape->degree < 0 || shape->degree > HEDDLE_POLYNOMIAL_DEGREE)
        return heddle_fail(HEDDLE_INVALID, "polynomial_activation of degree %d: 0 to %d are there", shape->degree,
                           HEDDLE_POLYNOMIAL_DEGREE);
    return HEDDLE_OK;
}

HEDDLE_COST(forward_cost, forward_operands, activation_shape, 2.0 * shape->n * shape->degree)
HEDDLE_COST(backward_cost, backward_operands, activation_shape, 2.0 * shape->n * shape->degree)

static double horner(const float *terms, double x)
{
    double value = 0;
    for (int i = HEDDLE_POLYNOMIAL_DEGREE; i >= 0; i--)
        value = value * x + (double)terms[i];
    return value;
}

static void forward_reference(const void *shape, const double *const *input, double *const *output)
{
    heddle_polynomial_terms terms = heddle_polynomial_terms_of(shape);
    for (int i = 0; i < ((const activation_shape *)shape)->n; i++)
        output[0][i] = horner(terms.value, input[0][i]);
}

static void backward_reference(const void *shape, const double *const *input, double *const *output)
{
    heddle_polynomial_terms terms = heddle_polynomial_terms_of(shape);
    for (int i = 0; i < ((const activation_shape *)shape)->n; i++)
        output[0][i] = horner(terms.slope, input[0][i]) * input[1][i];
}

// Each power adds a rounding, and those of the higher ones are multiplied by x in every later step.
HEDDLE_OF_SHAPE(int64_t, reduction, activation_shape, 1 + shape->degree * shape->degree)

static const char *const test_shapes[] = {"n=0",
                                          "n=1 degree=0 c0=-3",
                                          "n=7 degree=1 c0=0.25 c1=-2",
                                          "n=257",
                                          "n=1024 degree=3 c3=0.5",
                                          "n=4099 degree=4 c0=0.1 c1=0.2 c2=0.3 c3=0.4 c4=0.5",
                                          "n=31 degree=5 c5=0.01",
                                          "n=64 degree=6 c6=0.01",
                                          "n=1001 degree=7 c3=-0.125 c7=0.001",
                                          NULL};
static const char *const bench_shapes[] = {"n=67108864", "n=67108864 degree=7 c7=0.001", "n=1605632", NULL};

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_polynomial_activation_forward_cpu_naive,
     "one element after another, by powers of x"},
    {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_polynomial_activation_forward_cpu_vectorised,
     "Horner's rule on vectors, all threads: limited by memory bandwidth"},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: 4 bytes per access"},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "four elements per thread, 16 bytes per access: limited by memory bandwidth"},
};
static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_polynomial_activation_backward_cpu_naive,
     "one element after another, by powers of x"},
    {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_polynomial_activation_backward_cpu_vectorised,
     "Horner's rule on vectors, all threads: limited by memory bandwidth"},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: 4 bytes per access"},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "four elements per thread, 16 bytes per access: limited by memory bandwidth"},
};

static const heddle_op *const gradients[] = {&heddle_op_polynomial_activation_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "polynomial_activation", .shape_size = sizeof(activation_shape), HEDDLE_FIELDS(fields),             \
    .validate = validate, .reduction = reduction, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_polynomial_activation_forward = {
    .name = "polynomial_activation_forward",
    .summary = "a polynomial of each element: c0 + c1 x + c2 x^2 + ...",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_polynomial_activation_backward = {
    .name = "polynomial_activation_backward",
    .summary = "gradient of polynomial_activation",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    HEDDLE_LADDER(backward_ladder),
};
