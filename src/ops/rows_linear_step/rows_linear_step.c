// rows_linear_step: the gradients of a linear layer's weight and bias and, with each as soon as it is known, the
// optimiser's step: no gradient goes through memory. Its cost, reference and ladder.

#include "ops/rows_linear_step/rows_linear_step.h"

#include <math.h>

#include "ops/optimizer/optimizer.h"
#include "ops/rows_define.h"

typedef heddle_rows_linear_step_shape step_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(step_shape, n, "rows")},
    {HEDDLE_REQUIRED_INT(step_shape, c, "columns of the input, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(step_shape, k, "columns of grad_output, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(step_shape, inputs, "columns of the weight, at most c")},
    {HEDDLE_REQUIRED_INT(step_shape, outputs, "rows of the weight, at most k")},
    {HEDDLE_OPTIONAL_INT(step_shape, optimizer, 0, "0: sgd, 1: momentum, 2: AdamW")},
    {HEDDLE_ROWS_HALF(step_shape)},
    {HEDDLE_ROWS_PAIRS(step_shape)},
    {HEDDLE_OPTIONAL_INT(step_shape, scale, 0, "gradients are multiplied by 2 to this power")},
};

HEDDLE_ROWS_PAIRS_ELEMENT(element, step_shape)

static heddle_status validate(const void *shape_)
{
    const step_shape *shape = shape_;
    if (shape->n < 1 || shape->c < 1 || shape->k < 1 || shape->c % HEDDLE_ROWS_ALIGNMENT ||
        shape->k % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_linear_step: n=%d c=%d k=%d: c and k must be multiples of %d",
                           shape->n, shape->c, shape->k, HEDDLE_ROWS_ALIGNMENT);
    if (shape->inputs < 1 || shape->inputs > shape->c || shape->outputs < 1 || shape->outputs > shape->k)
        return heddle_fail(HEDDLE_INVALID, "rows_linear_step: inputs=%d of c=%d, outputs=%d of k=%d", shape->inputs,
                           shape->c, shape->outputs, shape->k);
    if (shape->optimizer < 0 || shape->optimizer > 2)
        return heddle_fail(HEDDLE_INVALID, "rows_linear_step: optimizer=%d is not 0, 1 or 2", shape->optimizer);
    return HEDDLE_OK;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_grad_output, step_shape, shape->n, shape->k)
HEDDLE_DIMS(dims_input, step_shape, shape->n, shape->c)
HEDDLE_DIMS(dims_hyper, step_shape, HEDDLE_HYPER_COUNT)
HEDDLE_DIMS(dims_weight, step_shape, shape->outputs, shape->inputs)
HEDDLE_DIMS(dims_copy, step_shape, shape->k, shape->c)
HEDDLE_DIMS(dims_bias, step_shape, shape->outputs)
HEDDLE_DIMS(dims_bias_copy, step_shape, shape->k)

#define ROWS(text, part, size)       HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_NORMAL, size)
#define UPDATE(text, contents, size) HEDDLE_FLOAT_UPDATE(text, HEDDLE_VALUES_##contents, size)

// The padding of copies is left unchanged.
static const heddle_operand operands[] = {
    {ROWS("grad_output", HEDDLE_INPUT, dims_grad_output)},
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {HEDDLE_FLOAT_INPUT("hyper", HEDDLE_VALUES_OWN, dims_hyper)},
    {HEDDLE_FLOAT_INPUT("grad_bias", HEDDLE_VALUES_NORMAL, dims_bias_copy), .optional = true}, // known before
    {UPDATE("weight", NORMAL, dims_weight)},
    {ROWS("copy", HEDDLE_UPDATE, dims_copy)},
    {UPDATE("first_moment", NORMAL, dims_weight), .optional = true},
    {UPDATE("second_moment", POSITIVE, dims_weight), .optional = true},
    {UPDATE("bias", NORMAL, dims_bias), .optional = true},
    {UPDATE("bias_copy", NORMAL, dims_bias_copy), .optional = true},
    {UPDATE("bias_first_moment", NORMAL, dims_bias), .optional = true},
    {UPDATE("bias_second_moment", POSITIVE, dims_bias), .optional = true},
};

static void fill(const void *shape, int operand, uint64_t seed, double *values)
{
    (void)shape, (void)operand;
    heddle_optimizer_fill_hyper(seed, values);
}

// --- the reference --------------------------------------------------------------------------------------------------

// The step of element `at` of a parameter, whose output is the first of these, given its gradient.
static void take_step(int optimizer, const double *hyper, double gradient, double *parameter, double *first,
                      double *second, size_t at)
{
    static const heddle_op *const optimizers[] = {&heddle_op_sgd_update, &heddle_op_momentum_update,
                                                  &heddle_op_adamw_update};
    const heddle_update_shape one = {.n = 1};
    const double *const from[] = {&gradient, hyper};
    double *const to[] = {parameter + at, first ? first + at : NULL, second ? second + at : NULL};
    optimizers[optimizer]->reference(&one, from, to);
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const step_shape *shape = shape_;
    const int optimizer = heddle_linear_step_optimizer(shape, (const void *const *)output);
    double *const *bias = output + HEDDLE_LINEAR_STEP_BIAS;
    for (int row = 0; row < shape->outputs; row++) {
        double sum = input[3] ? input[3][row] : 0;
        for (int i = 0; !input[3] && i < shape->n; i++)
            sum += input[0][(size_t)i * shape->k + row];
        if (bias[0])
            take_step(optimizer, input[2], ldexp(sum, -shape->scale), bias[0], bias[2], bias[3], (size_t)row);
        if (bias[0] && bias[1])
            bias[1][row] = bias[0][row];
        for (int column = 0; column < shape->inputs; column++) {
            const size_t at = (size_t)row * shape->inputs + column;
            sum = 0;
            for (int i = 0; i < shape->n; i++)
                sum += input[0][(size_t)i * shape->k + row] * input[1][(size_t)i * shape->c + column];
            take_step(optimizer, input[2], ldexp(sum, -shape->scale), output[HEDDLE_LINEAR_STEP_WEIGHT],
                      output[HEDDLE_LINEAR_STEP_FIRST_MOMENT], output[HEDDLE_LINEAR_STEP_SECOND_MOMENT], at);
            output[HEDDLE_LINEAR_STEP_COPY][(size_t)row * shape->c + column] = output[HEDDLE_LINEAR_STEP_WEIGHT][at];
        }
    }
}

// --- cost -----------------------------------------------------------------------------------------------------------

static heddle_cost cost(const void *shape_)
{
    const step_shape *shape = shape_;
    const double weights = (double)shape->outputs * shape->inputs, size = (double)heddle_dtype_size(element(shape));
    const double states = sizeof(float) * (1 + shape->optimizer) * weights;
    return (heddle_cost){.flops = (2.0 * shape->n + 6) * weights,
                         .bytes_read = states + size * shape->n * ((double)shape->c + shape->k),
                         .bytes_written = states + size * weights};
}

HEDDLE_OF_SHAPE(int64_t, reduction, step_shape, shape->n)

// More rows than a stage has, more columns than a tile, ragged ends of both, in every type and with every optimiser.
static const char *const test_shapes[] = {"n=1 c=8 k=8 inputs=8 outputs=8 optimizer=2",
                                          "n=5 c=24 k=16 inputs=21 outputs=10 half=1 optimizer=1 scale=7",
                                          "n=67 c=136 k=72 inputs=132 outputs=70",
                                          "n=130 c=16 k=8 inputs=16 outputs=7 half=1 optimizer=2 scale=7",
                                          "n=5 c=24 k=16 inputs=24 outputs=16 pairs=1 optimizer=2 scale=7",
                                          "n=67 c=40 k=72 inputs=39 outputs=72 pairs=1 optimizer=1",
                                          "n=300 c=264 k=136 inputs=260 outputs=131 half=1 optimizer=2 scale=7",
                                          "n=600 c=64 k=16 inputs=64 outputs=10 pairs=1",
                                          "n=260 c=48 k=24 inputs=45 outputs=21",
                                          NULL};
// The layers of an MLP.
static const char *const bench_shapes[] = {"n=64 c=1024 k=1024 inputs=1024 outputs=1024",
                                           "n=64 c=784 k=1024 inputs=784 outputs=1024 optimizer=2",
                                           "n=256 c=1024 k=1024 inputs=1024 outputs=1024 optimizer=1",
                                           "n=1024 c=1024 k=1024 inputs=1024 outputs=1024",
                                           "n=1024 c=784 k=1024 inputs=784 outputs=1024 optimizer=2",
                                           NULL};

// --- the ladder -----------------------------------------------------------------------------------------------------

HEDDLE_BY_REFERENCE(rows_linear_step)

// Rows from which blocks have something to share.
enum { MANY_ROWS = 256 };

HEDDLE_OF_SHAPE(bool, has_many_rows, step_shape, shape->n >= MANY_ROWS)

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_linear_step),
    {"01_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "one block per tile of the weight: its gradient by tensor cores, then its step", NULL, NULL, .capability = 90},
    {"02_wgmma", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "wgmma, one cluster per tile: its blocks share the rows, add their sums and take the step", NULL, NULL,
     .capability = 90, .gpu_only = "wgmma and TMA", .pays = has_many_rows},
};

const heddle_op heddle_op_rows_linear_step = {
    .name = "rows_linear_step",
    .ladder_name = "rows_linear_step",
    .summary = "gradients of a linear layer's weight and bias, and the optimiser's step with them",
    .shape_size = sizeof(step_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .element = element,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
