// rows_head: the end of a network of few classes, forward and backward: the last linear layer, the loss, and the
// gradients of the logits and of the layer's input. Its cost, reference and ladder.

#include "ops/rows_head/rows_head.h"

#include <math.h>

#include "ops/rows_define.h"

typedef heddle_rows_head_shape head_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(head_shape, n, "samples")},
    {HEDDLE_REQUIRED_INT(head_shape, c, "features, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(head_shape, k, "columns of the logits, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(head_shape, classes, "classes, at most 32")},
    {HEDDLE_OPTIONAL_INT(head_shape, function, 0, "that made the features; 0: none, 1: relu, 2: tanh, 3: sigmoid")},
    {HEDDLE_ROWS_HALF(head_shape)},
    {HEDDLE_ROWS_PAIRS(head_shape)},
    {HEDDLE_OPTIONAL_INT(head_shape, scale, 0, "gradients are multiplied by 2 to this power")},
};

HEDDLE_ROWS_PAIRS_ELEMENT(element, head_shape)

static heddle_status validate(const void *shape_)
{
    const head_shape *shape = shape_;
    if (shape->n < 1 || shape->c < 1 || shape->c % HEDDLE_ROWS_ALIGNMENT || shape->k % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_head: n=%d c=%d k=%d: c and k must be multiples of %d", shape->n,
                           shape->c, shape->k, HEDDLE_ROWS_ALIGNMENT);
    if (shape->classes < 1 || shape->classes > shape->k || shape->k > HEDDLE_ROWS_HEAD_CLASSES)
        return heddle_fail(HEDDLE_INVALID, "rows_head: classes=%d k=%d: 1 to %d classes are possible", shape->classes,
                           shape->k, HEDDLE_ROWS_HEAD_CLASSES);
    if (shape->function >= HEDDLE_ROWS_FUNCTIONS)
        return heddle_fail(HEDDLE_INVALID, "rows_head: function=%d", shape->function);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_input, head_shape, shape->n, shape->c)
HEDDLE_DIMS(dims_weight, head_shape, shape->k, shape->c)
HEDDLE_DIMS(dims_bias, head_shape, shape->k)
HEDDLE_DIMS(dims_labels, head_shape, shape->n)
HEDDLE_DIMS(dims_logits, head_shape, shape->n, shape->k)
HEDDLE_DIMS(dims_one, head_shape, 1)

HEDDLE_OF_SHAPE(int, classes, head_shape, shape->classes)

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_OWN, size)

static const heddle_operand operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_bias), .optional = true},
    {"labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_labels, classes},
    {HEDDLE_FLOAT_INPUT("grad_loss", HEDDLE_VALUES_NORMAL, dims_one)},
    {HEDDLE_FLOAT_OUTPUT("loss", dims_one)},
    {.name = "correct", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_one},
    {ROWS("grad_logits", HEDDLE_OUTPUT, dims_logits)},
    {ROWS("grad_input", HEDDLE_OUTPUT, dims_input)},
    {HEDDLE_ROWS_ARRIVED(dims_one)},
    {HEDDLE_FLOAT_OUTPUT("grad_bias", dims_bias), .optional = true}, // added before the gradients are rounded
};

// Features between -1 and 1, like results of functions, weights that give logits of the same magnitude, no block
// arrived.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const head_shape *shape = shape_;
    int dims[HEDDLE_MAX_DIMS];
    const int rank = operands[operand].dims(shape, dims);
    const size_t count = (size_t)dims[0] * (rank > 1 ? dims[1] : 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t mixed = (i + seed + (uint64_t)operand) * 0x9e3779b97f4a7c15u;
        const double unit = (double)(mixed >> 40) / (double)(1 << 24) * 2 - 1; // -1 to 1
        values[i] = operands[operand].role == HEDDLE_UPDATE ? 0 : operand == 0 ? unit : unit * 2 / sqrt(shape->c);
    }
}

static heddle_cost cost(const void *shape_)
{
    const head_shape *shape = shape_;
    const double bytes = (double)heddle_dtype_size(element(shape));
    const double features = (double)shape->n * shape->c;
    return (heddle_cost){.flops = 4 * features * shape->k,
                         .bytes_read = bytes * (features + (double)shape->k * shape->c),
                         .bytes_written = bytes * (features + (double)shape->n * shape->k)};
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const head_shape *shape = shape_;
    double *grad_bias = output[5];
    output[0][0] = output[1][0] = 0;
    for (int j = 0; grad_bias && j < shape->k; j++)
        grad_bias[j] = 0;
    for (int i = 0; i < shape->n; i++) {
        const double *x = input[0] + (size_t)i * shape->c;
        const int label = (int)input[3][i];
        double logits[HEDDLE_ROWS_HEAD_CLASSES] = {0};
        int best = 0;
        for (int j = 0; j < shape->classes; j++) {
            logits[j] = input[2] ? input[2][j] : 0;
            for (int c = 0; c < shape->c; c++)
                logits[j] += x[c] * input[1][(size_t)j * shape->c + c];
            best = logits[j] > logits[best] ? j : best;
        }
        double sum = exp(logits[0] - logits[best]);
        for (int j = 1; j < shape->classes; j++)
            sum += exp(logits[j] - logits[best]);
        output[0][0] += (log(sum) + logits[best] - logits[label]) / shape->n;
        output[1][0] += best == label;
        double *grad_logits = output[2] + (size_t)i * shape->k, *grad_input = output[3] + (size_t)i * shape->c;
        for (int j = 0; j < shape->k; j++)
            grad_logits[j] = j < shape->classes ? ldexp(input[4][0], shape->scale) *
                                                      (exp(logits[j] - logits[best]) / sum - (j == label)) / shape->n
                                                : 0;
        for (int j = 0; grad_bias && j < shape->k; j++)
            grad_bias[j] += grad_logits[j];
        for (int c = 0; c < shape->c; c++) {
            grad_input[c] = 0;
            for (int j = 0; j < shape->classes; j++)
                grad_input[c] += grad_logits[j] * input[1][(size_t)j * shape->c + c];
            grad_input[c] *= heddle_rows_slope(shape->function, x[c]);
        }
    }
}

// The gradient of the bias adds over samples what was added over features. Tensor cores truncate where float32 rounds:
// errors do not cancel, and grow with the number of features, not with its root.
HEDDLE_OF_SHAPE(int64_t, reduction, head_shape, shape->n + (int64_t)shape->c * shape->c / 16)

static const char *const test_shapes[] = {"n=1 c=8 k=8 classes=1",
                                          "n=3 c=24 k=16 classes=10 function=1 half=1 scale=7",
                                          "n=67 c=88 k=16 classes=10 function=2",
                                          "n=9 c=520 k=8 classes=4 function=3 half=1 scale=7",
                                          "n=130 c=256 k=32 classes=31",
                                          "n=1 c=8 k=8 classes=1 pairs=1",
                                          "n=67 c=88 k=16 classes=10 function=2 pairs=1",
                                          "n=9 c=520 k=8 classes=4 function=1 pairs=1 scale=7",
                                          NULL};
static const char *const bench_shapes[] = {"n=1024 c=1024 k=16 classes=10 function=1",
                                           "n=64 c=256 k=16 classes=10 function=1", NULL};

HEDDLE_BY_REFERENCE(rows_head)

// Of each block a loss, a count, and one sum per class.
HEDDLE_WORKSPACE(workspace, head_shape,
                 ((size_t)shape->n / HEDDLE_ROWS_HEAD_SAMPLES + 1) *
                     (2 * sizeof(double) + HEDDLE_ROWS_HEAD_CLASSES * sizeof(float)))

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_head),
    {"01_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "sixteen samples per block, from their features to their gradients, by tensor cores: limited by latency", NULL,
     workspace, .capability = 90},
};

const heddle_op heddle_op_rows_head = {
    .name = "rows_head",
    .ladder_name = "rows_head",
    .summary = "last linear layer, cross-entropy and their gradients over rows of bf16",
    .shape_size = sizeof(head_shape),
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
