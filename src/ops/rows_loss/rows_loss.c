// rows_loss: the mean cross-entropy of logits, the number of correct samples, the probabilities, and the gradient of
// the logits as rows of bf16, in one operator. Its cost, reference and ladder.

#include "ops/rows_loss/rows_loss.h"

#include <math.h>

#include "ops/rows_define.h"

typedef heddle_rows_loss_shape loss_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(loss_shape, n, "samples")},
    {HEDDLE_REQUIRED_INT(loss_shape, classes, "classes")},
    {HEDDLE_REQUIRED_INT(loss_shape, k, "columns of the logits, a multiple of 8")},
    {HEDDLE_ROWS_HALF(loss_shape)},
    {HEDDLE_ROWS_PAIRS(loss_shape)},
    {HEDDLE_OPTIONAL_INT(loss_shape, scale, 0, "gradients are multiplied by 2 to this power")},
};

HEDDLE_ROWS_PAIRS_ELEMENT(element, loss_shape)

static heddle_status validate(const void *shape_)
{
    const loss_shape *shape = shape_;
    if (shape->n < 1 || shape->classes < 1 || shape->k < shape->classes || shape->k % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID,
                           "rows_loss: n=%d classes=%d k=%d: k is a multiple of %d and holds the classes", shape->n,
                           shape->classes, shape->k, HEDDLE_ROWS_ALIGNMENT);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_logits, loss_shape, shape->n, shape->k)
HEDDLE_DIMS(dims_labels, loss_shape, shape->n)
HEDDLE_DIMS(dims_probabilities, loss_shape, shape->n, shape->classes)
HEDDLE_DIMS(dims_one, loss_shape, 1)

HEDDLE_OF_SHAPE(int, classes, loss_shape, shape->classes)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("logits", HEDDLE_VALUES_NORMAL, dims_logits)},
    {"labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_labels, classes},
    {HEDDLE_FLOAT_INPUT("grad_loss", HEDDLE_VALUES_NORMAL, dims_one)},
    {HEDDLE_FLOAT_OUTPUT("loss", dims_one)},
    {.name = "correct", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_one},
    {HEDDLE_FLOAT_OUTPUT("probabilities", dims_probabilities), .optional = true},
    {.name = "grad_logits", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_BF16, .dims = dims_logits, .optional = true},
    {HEDDLE_ROWS_ARRIVED(dims_one)},
};

static void fill_arrived(const void *shape, int operand, uint64_t seed, double *values)
{
    (void)shape, (void)operand, (void)seed;
    values[0] = 0;
}

static heddle_cost cost(const void *shape_)
{
    const loss_shape *shape = shape_;
    const double bytes = (double)heddle_dtype_size(element(shape));
    const double count = (double)shape->n * shape->k;
    return (heddle_cost){.flops = 6 * count,
                         .bytes_read = sizeof(float) * count + sizeof(int32_t) * (double)shape->n,
                         .bytes_written = bytes * count + sizeof(float) * (double)shape->n * shape->classes};
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const loss_shape *shape = shape_;
    output[0][0] = output[1][0] = 0;
    for (int i = 0; i < shape->n; i++) {
        const double *x = input[0] + (size_t)i * shape->k;
        const int label = (int)input[1][i];
        int best = 0;
        for (int j = 1; j < shape->classes; j++)
            best = x[j] > x[best] ? j : best;
        double sum = exp(x[0] - x[best]);
        for (int j = 1; j < shape->classes; j++)
            sum += exp(x[j] - x[best]);
        output[0][0] += (log(sum) + x[best] - x[label]) / shape->n;
        output[1][0] += best == label;
        for (int j = 0; j < shape->k; j++) {
            const double probability = j < shape->classes ? exp(x[j] - x[best]) / sum : 0;
            if (output[2] && j < shape->classes)
                output[2][(size_t)i * shape->classes + j] = probability;
            if (output[3])
                output[3][(size_t)i * shape->k + j] =
                    ldexp(input[2][0], shape->scale) * (probability - (j == label)) / shape->n;
        }
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, loss_shape, shape->n > shape->classes ? shape->n : shape->classes)

static const char *const test_shapes[] = {"n=1 classes=1 k=8",
                                          "n=1 classes=10 k=16 half=1 scale=7",
                                          "n=7 classes=10 k=16",
                                          "n=67 classes=100 k=104 half=1 scale=7",
                                          "n=300 classes=3 k=8",
                                          "n=67 classes=100 k=104 pairs=1 scale=7",
                                          NULL};
static const char *const bench_shapes[] = {"n=1024 classes=10 k=16", "n=64 classes=10 k=16",
                                           "n=1024 classes=1000 k=1000", NULL};

HEDDLE_BY_REFERENCE(rows_loss)

// One loss and one count per block.
static size_t workspace(const void *shape, int threads)
{
    (void)shape, (void)threads;
    return HEDDLE_ROWS_LOSS_BLOCKS * 2 * sizeof(double);
}

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_loss),
    {"01_warp_per_row", HEDDLE_CUDA, HEDDLE_FUSED, NULL, "one warp per sample: limited by latency", NULL, workspace,
     .capability = 90},
};

const heddle_op heddle_op_rows_loss = {
    .name = "rows_loss",
    .ladder_name = "rows_loss",
    .summary = "cross-entropy of logits, its gradient as rows of bf16, and the number of correct samples",
    .shape_size = sizeof(loss_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .element = element,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .fill = fill_arrived,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
