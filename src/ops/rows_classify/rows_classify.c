// rows_classify: the end of a network of few classes in use: the last linear layer and the softmax of its logits, and
// with labels the loss. Its cost, reference and ladder.

#include "ops/rows_classify/rows_classify.h"

#include <math.h>

#include "ops/rows_define.h"
#include "ops/rows_head/rows_head.h"

typedef heddle_rows_classify_shape classify_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(classify_shape, n, "samples")},
    {HEDDLE_REQUIRED_INT(classify_shape, c, "features, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(classify_shape, k, "rows of the weight, a multiple of 8")},
    {HEDDLE_REQUIRED_INT(classify_shape, classes, "classes, at most 32")},
    {HEDDLE_ROWS_HALF(classify_shape)},
    {HEDDLE_ROWS_PAIRS(classify_shape)},
    {HEDDLE_ROWS_INT8(classify_shape)},
};

HEDDLE_ROWS_ANY_ELEMENT(element, classify_shape)

static heddle_status validate(const void *shape_)
{
    const classify_shape *shape = shape_;
    if (shape->n < 1 || shape->c < 1 || shape->c % HEDDLE_ROWS_ALIGNMENT || shape->k % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_classify: n=%d c=%d k=%d: c and k must be multiples of %d", shape->n,
                           shape->c, shape->k, HEDDLE_ROWS_ALIGNMENT);
    if (shape->classes < 1 || shape->classes > shape->k || shape->k > HEDDLE_ROWS_HEAD_CLASSES)
        return heddle_fail(HEDDLE_INVALID, "rows_classify: classes=%d k=%d: 1 to %d classes are possible",
                           shape->classes, shape->k, HEDDLE_ROWS_HEAD_CLASSES);
    if (shape->int8 && (shape->c % HEDDLE_ROWS_BYTE_ALIGNMENT || shape->c > HEDDLE_ROWS_MOST_BYTES))
        return heddle_fail(HEDDLE_INVALID, "rows_classify: c=%d of bytes must be a multiple of %d and at most %d",
                           shape->c, HEDDLE_ROWS_BYTE_ALIGNMENT, HEDDLE_ROWS_MOST_BYTES);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_input, classify_shape, shape->n, shape->c)
HEDDLE_DIMS(dims_weight, classify_shape, shape->k, shape->c)
HEDDLE_DIMS(dims_bias, classify_shape, shape->k)
HEDDLE_DIMS(dims_scale, classify_shape, shape->int8 ? shape->k : 0)
HEDDLE_DIMS(dims_labels, classify_shape, shape->n)
HEDDLE_DIMS(dims_probabilities, classify_shape, shape->n, shape->classes)
HEDDLE_DIMS(dims_one, classify_shape, 1)

HEDDLE_OF_SHAPE(int, classes, classify_shape, shape->classes)

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_OWN, size)

static const heddle_operand operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {ROWS("weight", HEDDLE_INPUT, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_bias), .optional = true},
    {"labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_labels, classes},
    {HEDDLE_FLOAT_INPUT("scale", HEDDLE_VALUES_OWN, dims_scale), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("probabilities", dims_probabilities)},
    {HEDDLE_FLOAT_OUTPUT("loss", dims_one), .optional = true},
    {.name = "correct", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_one, .optional = true},
    {HEDDLE_ROWS_ARRIVED(dims_one), .optional = true},
};

enum { SCALE = 4 };

// Features between -1 and 1, like results of functions, weights that give logits of the same magnitude, no block
// arrived. Bytes of all sizes, scaled down to the same logits.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const classify_shape *shape = shape_;
    int dims[HEDDLE_MAX_DIMS];
    const int rank = operands[operand].dims(shape, dims);
    const size_t count = (size_t)dims[0] * (rank > 1 ? dims[1] : 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t mixed = (i + seed + (uint64_t)operand) * 0x9e3779b97f4a7c15u;
        const double unit = (double)(mixed >> 40) / (double)(1 << 24) * 2 - 1; // -1 to 1
        if (operands[operand].role == HEDDLE_UPDATE)
            values[i] = 0;
        else if (operand == SCALE)
            values[i] = 2 / (sqrt(shape->c) * HEDDLE_ROWS_MOST_BYTE * HEDDLE_ROWS_MOST_BYTE);
        else if (shape->int8)
            values[i] = rint(unit * HEDDLE_ROWS_MOST_BYTE);
        else
            values[i] = operand == 0 ? unit : unit * 2 / sqrt(shape->c);
    }
}

static heddle_cost cost(const void *shape_)
{
    const classify_shape *shape = shape_;
    const double features = (double)shape->n * shape->c;
    return (heddle_cost){.flops = 2 * features * shape->k,
                         .bytes_read =
                             (double)heddle_dtype_size(element(shape)) * (features + (double)shape->k * shape->c),
                         .bytes_written = sizeof(float) * (double)shape->n * shape->classes};
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const classify_shape *shape = shape_;
    double loss = 0, correct = 0;
    for (int i = 0; i < shape->n; i++) {
        const double *x = input[0] + (size_t)i * shape->c;
        double *probabilities = output[0] + (size_t)i * shape->classes;
        const int label = (int)input[3][i];
        double logits[HEDDLE_ROWS_HEAD_CLASSES] = {0};
        int best = 0;
        for (int j = 0; j < shape->classes; j++) {
            for (int c = 0; c < shape->c; c++)
                logits[j] += x[c] * input[1][(size_t)j * shape->c + c];
            logits[j] = logits[j] * (shape->int8 && input[SCALE] ? input[SCALE][j] : 1) + (input[2] ? input[2][j] : 0);
            best = logits[j] > logits[best] ? j : best;
        }
        double sum = exp(logits[0] - logits[best]);
        for (int j = 1; j < shape->classes; j++)
            sum += exp(logits[j] - logits[best]);
        for (int j = 0; j < shape->classes; j++)
            probabilities[j] = exp(logits[j] - logits[best]) / sum;
        loss += (log(sum) + logits[best] - logits[label]) / shape->n;
        correct += best == label;
    }
    if (output[1])
        output[1][0] = loss;
    if (output[2])
        output[2][0] = correct;
}

HEDDLE_OF_SHAPE(int64_t, reduction, classify_shape, shape->n > shape->c ? shape->n : shape->c)

static const char *const test_shapes[] = {"n=1 c=8 k=8 classes=1",
                                          "n=3 c=24 k=16 classes=10 half=1",
                                          "n=67 c=88 k=16 classes=10",
                                          "n=9 c=520 k=8 classes=4 half=1",
                                          "n=130 c=256 k=32 classes=31",
                                          "n=300 c=48 k=16 classes=9",
                                          "n=67 c=88 k=16 classes=10 pairs=1",
                                          "n=300 c=24 k=8 classes=4 pairs=1",
                                          "n=67 c=144 k=16 classes=10 int8=1",
                                          "n=9 c=1040 k=32 classes=31 int8=1",
                                          NULL};
static const char *const bench_shapes[] = {"n=1024 c=1024 k=16 classes=10", "n=1 c=256 k=16 classes=10", NULL};

HEDDLE_BY_REFERENCE(rows_classify)

// One loss and one count per block.
static size_t workspace(const void *shape, int threads)
{
    (void)shape, (void)threads;
    return HEDDLE_ROWS_CLASSIFY_BLOCKS * 2 * sizeof(double);
}

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_classify),
    {"01_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "sixteen samples per block, from their features to their probabilities, by tensor cores: limited by latency", NULL,
     workspace, .capability = 90},
};

const heddle_op heddle_op_rows_classify = {
    .name = "rows_classify",
    .ladder_name = "rows_classify",
    .summary = "last linear layer and softmax over rows of bf16",
    .shape_size = sizeof(classify_shape),
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
