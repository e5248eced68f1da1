// Optimisers: one step of sgd, momentum and adamw over n parameters, as PyTorch defines them. Costs, references and
// ladders.
//
// A NaN gradient leaves its parameter and its moments unchanged. That is how a step is skipped whose gradients exceeded
// half precision's range (cnn_step's rungs then return only NaN), decay and momentum included. step_end reports a NaN
// loss, so that a diverged training run does not continue.

#include "ops/optimizer/optimizer.h"

#include <math.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_update_shape, n, "parameters")},
    {HEDDLE_OPTIONAL_INT(heddle_update_shape, undecayed, 0, "of these, at the end, without weight decay")},
};

HEDDLE_DIMS(dims_parameters, heddle_update_shape, shape->n)
HEDDLE_DIMS(dims_hyper, void, HEDDLE_HYPER_COUNT)

static const heddle_operand sgd_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {HEDDLE_FLOAT_INPUT("hyper", HEDDLE_VALUES_OWN, dims_hyper)},
    {HEDDLE_FLOAT_UPDATE("parameter", HEDDLE_VALUES_NORMAL, dims_parameters)},
};

static const heddle_operand momentum_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {HEDDLE_FLOAT_INPUT("hyper", HEDDLE_VALUES_OWN, dims_hyper)},
    {HEDDLE_FLOAT_UPDATE("parameter", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {HEDDLE_FLOAT_UPDATE("velocity", HEDDLE_VALUES_NORMAL, dims_parameters)},
};

static const heddle_operand adamw_operands[] = {
    {HEDDLE_FLOAT_INPUT("grad", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {HEDDLE_FLOAT_INPUT("hyper", HEDDLE_VALUES_OWN, dims_hyper)},
    {HEDDLE_FLOAT_UPDATE("parameter", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {HEDDLE_FLOAT_UPDATE("first_moment", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {HEDDLE_FLOAT_UPDATE("second_moment", HEDDLE_VALUES_POSITIVE, dims_parameters)},
};

// Hyper-parameters after some steps, large enough that each of them matters.
void heddle_optimizer_fill_hyper(uint64_t seed, double *values)
{
    double step = 1 + (double)(seed % 5);
    values[HEDDLE_HYPER_LEARNING_RATE] = 0.1;
    values[HEDDLE_HYPER_WEIGHT_DECAY] = 0.05;
    values[HEDDLE_HYPER_MOMENTUM] = 0.9;
    values[HEDDLE_HYPER_BETA2] = 0.97;
    values[HEDDLE_HYPER_EPSILON] = 0.01;
    values[HEDDLE_HYPER_CORRECTION1] = 1 - pow(values[HEDDLE_HYPER_MOMENTUM], step);
    values[HEDDLE_HYPER_CORRECTION2] = 1 - pow(values[HEDDLE_HYPER_BETA2], step);
}

static void fill_hyper(const void *shape, int operand, uint64_t seed, double *values)
{
    (void)shape, (void)operand;
    heddle_optimizer_fill_hyper(seed, values);
}

static heddle_status validate(const void *shape_)
{
    const heddle_update_shape *shape = shape_;
    if (shape->undecayed < 0 || shape->undecayed > shape->n)
        return heddle_fail(HEDDLE_INVALID, "optimizer: undecayed=%d of n=%d parameters; give 0 to n", shape->undecayed,
                           shape->n);
    return HEDDLE_OK;
}

static double decay_of(const heddle_update_shape *shape, const double *hyper, int index)
{
    return index < shape->n - shape->undecayed ? hyper[HEDDLE_HYPER_WEIGHT_DECAY] : 0;
}

static heddle_cost cost(const void *shape_, double flops, double states)
{
    const heddle_update_shape *shape = shape_;
    double n = shape->n;
    return (heddle_cost){flops * n, sizeof(float) * (1 + states) * n, sizeof(float) * states * n};
}

static heddle_cost sgd_cost(const void *shape)
{
    return cost(shape, 4, 1);
}

static heddle_cost momentum_cost(const void *shape)
{
    return cost(shape, 6, 2);
}

static heddle_cost adamw_cost(const void *shape)
{
    return cost(shape, 13, 3);
}

static void sgd_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_update_shape *shape = shape_;
    const double *hyper = input[1];
    for (int i = 0; i < shape->n; i++)
        if (!isnan(input[0][i]))
            output[0][i] -=
                hyper[HEDDLE_HYPER_LEARNING_RATE] * (input[0][i] + decay_of(shape, hyper, i) * output[0][i]);
}

static void momentum_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_update_shape *shape = shape_;
    const double *hyper = input[1];
    for (int i = 0; i < shape->n; i++) {
        if (isnan(input[0][i]))
            continue;
        double slope = input[0][i] + decay_of(shape, hyper, i) * output[0][i];
        output[1][i] = hyper[HEDDLE_HYPER_MOMENTUM] * output[1][i] + slope;
        output[0][i] -= hyper[HEDDLE_HYPER_LEARNING_RATE] * output[1][i];
    }
}

static void adamw_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_update_shape *shape = shape_;
    const double *grad = input[0], *hyper = input[1];
    double rate = hyper[HEDDLE_HYPER_LEARNING_RATE], beta1 = hyper[HEDDLE_HYPER_MOMENTUM];
    double beta2 = hyper[HEDDLE_HYPER_BETA2];
    for (int i = 0; i < shape->n; i++) {
        if (isnan(grad[i]))
            continue;
        output[1][i] = beta1 * output[1][i] + (1 - beta1) * grad[i];
        output[2][i] = beta2 * output[2][i] + (1 - beta2) * grad[i] * grad[i];
        double mean = output[1][i] / hyper[HEDDLE_HYPER_CORRECTION1];
        double square = output[2][i] / hyper[HEDDLE_HYPER_CORRECTION2];
        output[0][i] *= 1 - rate * decay_of(shape, hyper, i);
        output[0][i] -= rate * mean / (sqrt(square) + hyper[HEDDLE_HYPER_EPSILON]);
    }
}

static const char *const test_shapes[] = {
    "n=0", "n=1", "n=7", "n=31", "n=64", "n=16387", "n=5 undecayed=5", "n=70 undecayed=33", "n=16390 undecayed=3",
    NULL};
// All parameters of the CNN, its largest layer, and a large one.
static const char *const bench_shapes[] = {"n=421834", "n=401408", "n=67108864", NULL};

// Slowest first.
#define LADDER(name)                                                                                                   \
    static const heddle_rung name##_ladder[] = {                                                                       \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_##name##_update_cpu_naive,                                      \
         "one thread, one parameter at a time", NULL, NULL},                                                           \
        {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_##name##_update_cpu_vectorised,                            \
         "vector code on all threads: memory-bound", NULL, NULL},                                                      \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per parameter: memory-bound", NULL, NULL},           \
        {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "four parameters per thread, 16 bytes per load", NULL,      \
         NULL},                                                                                                        \
    }
LADDER(sgd);
LADDER(momentum);
LADDER(adamw);

#define SHARED                                                                                                         \
    .ladder_name = "optimizer", .shape_size = sizeof(heddle_update_shape), HEDDLE_FIELDS(fields),                      \
    .validate = validate, .fill = fill_hyper, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_sgd_update = {
    .name = "sgd_update",
    .summary = "gradient descent: parameter -= rate * (grad + decay * parameter)",
    SHARED,
    HEDDLE_OPERANDS(sgd_operands),
    .cost = sgd_cost,
    .reference = sgd_reference,
    HEDDLE_LADDER(sgd_ladder),
};

const heddle_op heddle_op_momentum_update = {
    .name = "momentum_update",
    .summary = "gradient descent with momentum: velocity = m * velocity + grad; parameter -= rate * velocity",
    SHARED,
    HEDDLE_OPERANDS(momentum_operands),
    .cost = momentum_cost,
    .reference = momentum_reference,
    HEDDLE_LADDER(momentum_ladder),
};

const heddle_op heddle_op_adamw_update = {
    .name = "adamw_update",
    .summary = "AdamW: steps scaled by running moments of the gradient, with decoupled decay",
    SHARED,
    HEDDLE_OPERANDS(adamw_operands),
    .cost = adamw_cost,
    .reference = adamw_reference,
    HEDDLE_LADDER(adamw_ladder),
};
