// Activations: what each computes, and its reference. relu, tanh, sigmoid, elu (alpha 1), gelu (the exact,
// error-function form), softplus and swish (also called SiLU), element by element, with their gradients.

#include "ops/activation/activation.h"

#include <math.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

HEDDLE_DIMS(dims_elements, heddle_elements_shape, shape->n)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_elements)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_INPUT("output", HEDDLE_VALUES_SAVED, dims_elements)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_elements)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_elements)},
};

// The roofline counts one operation per element; the polynomials are a detail of each rung.
HEDDLE_COST(forward_cost, forward_operands, heddle_elements_shape, shape->n)

static heddle_cost backward_cost(const void *shape_)
{
    const heddle_elements_shape *shape = shape_;
    // The gradient and one of input and output: none of the seven needs both.
    double bytes = sizeof(float) * (double)shape->n;
    return (heddle_cost){.flops = 2.0 * shape->n, .bytes_read = 2 * bytes, .bytes_written = bytes};
}

static const char *const test_shapes[] = {"n=0", "n=1", "n=7", "n=31", "n=64", "n=16387", NULL};
// The 128 units after the CNN's first linear layer, and its first convolution's output, at batch 64 and 256.
static const char *const bench_shapes[] = {"n=67108864", "n=1605632", "n=8192", "n=32768", "n=6422528", NULL};

// --- values ---------------------------------------------------------------------------------------------------------

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static double normal_density(double x)
{
    return 0.5 * M_2_SQRTPI * M_SQRT1_2 * exp(-0.5 * x * x);
}

// Far from zero the product is 0, also at infinity, where the bare formula would give NaN.
static double times_or_zero(double x, double factor)
{
    return factor == 0 ? 0 : x * factor;
}

static double relu_value(double x)
{
    return x < 0 ? 0 : x;
}

static double tanh_value(double x)
{
    return tanh(x);
}

static double sigmoid_value(double x)
{
    return sigmoid(x);
}

static double elu_value(double x)
{
    return x > 0 ? x : expm1(x);
}

static double gelu_value(double x)
{
    return times_or_zero(x, normal_cdf(x));
}

static double softplus_value(double x)
{
    return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}

static double swish_value(double x)
{
    return times_or_zero(x, sigmoid(x));
}

// --- slopes: the derivative at x, with value y ----------------------------------------------------------------------

static double relu_slope(double x, double y)
{
    (void)y;
    return !(x <= 0); // passes the gradient on at NaN, as PyTorch does
}

static double tanh_slope(double x, double y)
{
    (void)x;
    return 1 - y * y;
}

static double sigmoid_slope(double x, double y)
{
    (void)x;
    return y * (1 - y);
}

static double elu_slope(double x, double y)
{
    (void)y;
    return x > 0 ? 1 : exp(x);
}

static double gelu_slope(double x, double y)
{
    (void)y;
    return normal_cdf(x) + times_or_zero(x, normal_density(x));
}

static double softplus_slope(double x, double y)
{
    (void)y;
    return sigmoid(x);
}

static double swish_slope(double x, double y)
{
    (void)y;
    return sigmoid(x) + times_or_zero(x, sigmoid(x) * (1 - sigmoid(x)));
}

// --- the tables -----------------------------------------------------------------------------------------------------

static const char relu_summary[] = "relu: x if positive, else 0";
static const char tanh_summary[] = "hyperbolic tangent";
static const char sigmoid_summary[] = "sigmoid: 1 / (1 + exp(-x))";
static const char elu_summary[] = "elu: x if positive, else exp(x) - 1";
static const char gelu_summary[] = "gelu: x times the normal distribution's cumulative function";
static const char softplus_summary[] = "softplus: log(1 + exp(x))";
static const char swish_summary[] = "swish (SiLU): x * sigmoid(x)";

#define DEFINE_ACTIVATION(activation)                                                                                  \
    static void activation##_forward_reference(const void *shape_, const double *const *input, double *const *output)  \
    {                                                                                                                  \
        const heddle_elements_shape *shape = shape_;                                                                   \
        for (int i = 0; i < shape->n; i++)                                                                             \
            output[0][i] = activation##_value(input[0][i]);                                                            \
    }                                                                                                                  \
    static void activation##_backward_reference(const void *shape_, const double *const *input, double *const *output) \
    {                                                                                                                  \
        const heddle_elements_shape *shape = shape_;                                                                   \
        for (int i = 0; i < shape->n; i++)                                                                             \
            output[0][i] = input[2][i] * activation##_slope(input[0][i], input[1][i]);                                 \
    }                                                                                                                  \
                                                                                                                       \
    static const heddle_rung activation##_forward_ladder[] = {                                                         \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##activation##_forward_cpu_naive,                               \
         "one thread, one math-library call per element", NULL, NULL},                                                 \
        {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_##activation##_forward_cpu_vectorised,                     \
         "branch-free vector code on all threads: relu is memory-bound, the others compute-bound", NULL, NULL},        \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,                                                                  \
         "one thread per element: relu is memory-bound, the others compute-bound", NULL, NULL},                        \
        {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "four elements per thread, 16 bytes per load", NULL, NULL}, \
    };                                                                                                                 \
    static const heddle_rung activation##_backward_ladder[] = {                                                        \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##activation##_backward_cpu_naive,                              \
         "one thread, one math-library call per element", NULL, NULL},                                                 \
        {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_##activation##_backward_cpu_vectorised,                    \
         "branch-free vector code on all threads: relu is memory-bound, the others compute-bound", NULL, NULL},        \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,                                                                  \
         "one thread per element: relu is memory-bound, the others compute-bound", NULL, NULL},                        \
        {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "four elements per thread, 16 bytes per load", NULL, NULL}, \
    };                                                                                                                 \
    static const heddle_op *const activation##_gradients[] = {&heddle_op_##activation##_backward, NULL};               \
                                                                                                                       \
    const heddle_op heddle_op_##activation##_forward = {                                                               \
        .name = #activation "_forward",                                                                                \
        .ladder_name = "activation",                                                                                   \
        .summary = activation##_summary,                                                                               \
        .shape_size = sizeof(heddle_elements_shape),                                                                   \
        HEDDLE_FIELDS(fields),                                                                                         \
        HEDDLE_OPERANDS(forward_operands),                                                                             \
        .cost = forward_cost,                                                                                          \
        .reference = activation##_forward_reference,                                                                   \
        .test_shapes = test_shapes,                                                                                    \
        .bench_shapes = bench_shapes,                                                                                  \
        .gradients = activation##_gradients,                                                                           \
        HEDDLE_LADDER(activation##_forward_ladder),                                                                    \
    };                                                                                                                 \
    const heddle_op heddle_op_##activation##_backward = {                                                              \
        .name = #activation "_backward",                                                                               \
        .ladder_name = "activation",                                                                                   \
        .summary = "gradient of " #activation,                                                                         \
        .shape_size = sizeof(heddle_elements_shape),                                                                   \
        HEDDLE_FIELDS(fields),                                                                                         \
        HEDDLE_OPERANDS(backward_operands),                                                                            \
        .cost = backward_cost,                                                                                         \
        .reference = activation##_backward_reference,                                                                  \
        .test_shapes = test_shapes,                                                                                    \
        .bench_shapes = bench_shapes,                                                                                  \
        HEDDLE_LADDER(activation##_backward_ladder),                                                                   \
    };

HEDDLE_ACTIVATIONS(DEFINE_ACTIVATION)
