// cnn_step: its shape and operands, its cost, and its ladder. The arithmetic is in reference.c and the rungs' files.

#include "ops/cnn_step/cnn_step.h"

#include <limits.h>
#include <math.h>

#include "heddle/random.h"
#include "ops/by_reference.h"
#include "ops/cnn_step/chain.h"
#include "ops/cnn_step/layout.h"
#include "ops/define.h"
#include "ops/stem_block/stem_block.h"

typedef heddle_cnn_step_shape step_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(step_shape, n, "samples in the batch")},
    {HEDDLE_OPTIONAL_INT(step_shape, count, 60000, "images in the dataset")},
    {HEDDLE_OPTIONAL_INT(step_shape, length, 60000, "length of the order; cursor + n is at most that")},
    {HEDDLE_OPTIONAL_INT(step_shape, c, 1, "channels of an image")},
    {HEDDLE_OPTIONAL_INT(step_shape, h, 28, "image height")},
    {HEDDLE_OPTIONAL_INT(step_shape, w, 28, "image width")},
    {HEDDLE_OPTIONAL_INT(step_shape, k1, 32, "channels of the first convolution")},
    {HEDDLE_OPTIONAL_INT(step_shape, k2, 64, "channels of the second convolution")},
    {HEDDLE_OPTIONAL_INT(step_shape, hidden, 128, "outputs of the first linear layer")},
    {HEDDLE_OPTIONAL_INT(step_shape, classes, 10, "outputs of the second")},
    {HEDDLE_OPTIONAL_FLOAT(step_shape, epsilon, 1e-5, "added to the variances")},
    {HEDDLE_OPTIONAL_FLOAT(step_shape, momentum, 0.1, "weight of the new value in the running statistics")},
};

static heddle_status validate(const void *shape_)
{
    const step_shape *shape = shape_;
    if (shape->n < 1 || shape->count < 1 || shape->length < shape->n)
        return heddle_fail(HEDDLE_INVALID,
                           "cnn_step of n=%d samples: a dataset of count=%d and an order of length=%d have no such "
                           "batch",
                           shape->n, shape->count, shape->length);
    if (shape->c < 1 || shape->h < 4 || shape->w < 4)
        return heddle_fail(HEDDLE_INVALID, "cnn_step of c=%d h=%d w=%d: pooling twice needs at least 4×4", shape->c,
                           shape->h, shape->w);
    if (shape->k1 < 1 || shape->k2 < 1 || shape->hidden < 1 || shape->classes < 1)
        return heddle_fail(HEDDLE_INVALID, "cnn_step of k1=%d k2=%d hidden=%d classes=%d: each must be at least 1",
                           shape->k1, shape->k2, shape->hidden, shape->classes);
    if ((double)shape->n * shape->hidden > INT_MAX || (double)shape->k2 * shape->h * shape->w > INT_MAX)
        return heddle_fail(HEDDLE_INVALID, "cnn_step of n=%d hidden=%d k2=%d h=%d w=%d does not fit", shape->n,
                           shape->hidden, shape->k2, shape->h, shape->w);
    heddle_cnn_step_chain chain = heddle_cnn_step_chain_of(shape);
    HEDDLE_TRY(heddle_shape_validate(&heddle_op_stem_block_forward, &chain.stem));
    return heddle_shape_validate(&heddle_op_conv_block_forward, &chain.block);
}

bool heddle_cnn_step_is_mnist_cnn(const void *shape_)
{
    const step_shape *shape = shape_;
    return shape->c == 1 && shape->h == CNN_SIDE && shape->w == CNN_SIDE && shape->k1 == CNN_CHANNELS1 &&
           shape->k2 == CNN_CHANNELS2 && shape->hidden == CNN_HIDDEN && shape->classes <= CNN_MOST_CLASSES;
}

// In a small batch, a pooling window whose winner tf32 changes is a large part of the whole: such batches are not
// multiplied in tf32, and tf32x3 takes no longer there.
bool heddle_cnn_step_is_mnist_cnn_in_tf32(const void *shape_)
{
    const step_shape *shape = shape_;
    const int few = 16;
    return heddle_cnn_step_is_mnist_cnn(shape) && shape->n >= few;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_images, step_shape, shape->count, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_labels, step_shape, shape->count)
HEDDLE_DIMS(dims_order, step_shape, shape->length)
HEDDLE_DIMS(dims_cursor, step_shape, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_one, step_shape, 1)
#define TENSOR_DIMS(name, optional, smooth, ...) HEDDLE_DIMS(dims_##name, step_shape, __VA_ARGS__)
#define STATISTIC_DIMS(name, values, extent)     HEDDLE_DIMS(dims_##name, step_shape, extent)
HEDDLE_CNN_TENSORS(TENSOR_DIMS)
HEDDLE_CNN_STATISTICS_OF(STATISTIC_DIMS)

HEDDLE_OF_SHAPE(int, limit_labels, step_shape, shape->classes)
HEDDLE_OF_SHAPE(int, limit_order, step_shape, shape->count)

#define PARAMETER(tensor, may_lack, is_smooth, ...)                                                                    \
    {HEDDLE_FLOAT_INPUT(#tensor, HEDDLE_VALUES_OWN, dims_##tensor), .optional = (may_lack)},
#define GRADIENT(tensor, may_lack, is_smooth, ...)                                                                     \
    {HEDDLE_FLOAT_OUTPUT("grad_" #tensor, dims_##tensor), .optional = (may_lack), .smooth = (is_smooth)},
#define STATISTIC(tensor, contents, extent)                                                                            \
    {HEDDLE_FLOAT_UPDATE(#tensor, HEDDLE_VALUES_##contents, dims_##tensor), .optional = true, .smooth = true},

// clang-format off
static const heddle_operand operands[] = {
    {"images", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_images},
    {"labels", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_labels, limit_labels},
    {"order", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_order, limit_order},
    {"cursor", HEDDLE_INPUT, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor},
    HEDDLE_CNN_TENSORS(PARAMETER)
    {HEDDLE_FLOAT_OUTPUT("loss", dims_one), .smooth = true},
    {.name = "correct", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_one},
    HEDDLE_CNN_TENSORS(GRADIENT)
    HEDDLE_CNN_STATISTICS_OF(STATISTIC)
};
// clang-format on

// --- values for tests and benchmarks --------------------------------------------------------------------------------

// A new network's, but with each kind of gamma: negative, where the smallest input wins its window, and zero, where
// nothing of the normalised value passes.
static void fill_gamma(heddle_random *random, int count, double *values)
{
    for (int i = 0; i < count; i++)
        values[i] = 0.5 + heddle_random_uniform(random);
    values[count / 2] *= -1;
    values[count / 3] = count > 2 ? 0 : values[count / 3];
}

static void fill_uniform(heddle_random *random, double bound, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = bound * (2 * heddle_random_uniform(random) - 1);
}

static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const step_shape *shape = shape_;
    const double largest_beta = 0.3;
    heddle_random random = heddle_random_make(seed, (uint64_t)operand);
    size_t count = heddle_operand_elements(&heddle_op_cnn_step, operand, shape);
    int features = heddle_cnn_step_chain_of(shape).hidden.in;
    if (operand == HEDDLE_CNN_CURSOR) {
        values[0] = shape->length - shape->n;
        values[1] = (double)(seed % 7);
    }
    switch (operand - HEDDLE_CNN_FIRST_PARAMETER) {
    case HEDDLE_CNN_conv1_weight:
    case HEDDLE_CNN_conv1_bias: fill_uniform(&random, 1 / sqrt(9.0 * shape->c), count, values); break;
    case HEDDLE_CNN_conv2_weight:
    case HEDDLE_CNN_conv2_bias: fill_uniform(&random, 1 / sqrt(9.0 * shape->k1), count, values); break;
    case HEDDLE_CNN_hidden_weight:
    case HEDDLE_CNN_hidden_bias: fill_uniform(&random, 1 / sqrt((double)features), count, values); break;
    case HEDDLE_CNN_output_weight:
    case HEDDLE_CNN_output_bias: fill_uniform(&random, 1 / sqrt((double)shape->hidden), count, values); break;
    case HEDDLE_CNN_gamma1:
    case HEDDLE_CNN_gamma2: fill_gamma(&random, (int)count, values); break;
    case HEDDLE_CNN_beta1:
    case HEDDLE_CNN_beta2: fill_uniform(&random, largest_beta, count, values); break;
    default: break;
    }
}

// --- cost -----------------------------------------------------------------------------------------------------------

// Products only. The stem's input needs no gradient: it is multiplied twice, everything else three times.
static heddle_cost cost(const void *shape_)
{
    const step_shape *shape = shape_;
    heddle_cnn_step_chain chain = heddle_cnn_step_chain_of(shape);
    double n = shape->n, stem = heddle_op_stem_block_forward.cost(&chain.stem).flops;
    double block = heddle_op_conv_block_forward.cost(&chain.block).flops;
    double linear = 2.0 * n * shape->hidden * (chain.hidden.in + (double)shape->classes);
    double parameters = 0;
    for (int i = 0; i < HEDDLE_COUNT(operands); i++)
        if (operands[i].values == HEDDLE_VALUES_OWN && operands[i].dtype == HEDDLE_F32)
            parameters += (double)heddle_operand_elements(&heddle_op_cnn_step, i, shape);
    return (heddle_cost){
        .flops = 2 * stem + 3 * (block + linear),
        .bytes_read = n * chain.gather.pixels + 2 * sizeof(int32_t) * n + sizeof(float) * parameters,
        .bytes_written = sizeof(float) * parameters,
    };
}

// The statistics of the first batchnorm.
HEDDLE_OF_SHAPE(int64_t, reduction, step_shape, (int64_t)shape->n * shape->h * shape->w)

// --- the ladder -----------------------------------------------------------------------------------------------------

// A network that only the CPU rung accepts, a single sample, and few, of which a block has several on the simulated
// GPU.
static const char *const test_shapes[] = {
    "n=3 count=5 length=4 c=2 h=9 w=7 k1=5 k2=7 hidden=6 classes=3",
    "n=1 count=1 length=1",
    "n=16 count=19 length=17 classes=3 momentum=1 epsilon=0.001",
    NULL,
};

static const char *const bench_shapes[] = {
    "n=1024 count=8192 length=8192",
    "n=64 count=8192 length=8192",
    "n=256 count=8192 length=8192",
    "n=4096 count=8192 length=8192",
    NULL,
};

// The layout of layout.h, for operands and conv2's output of these types.
#define ADD_FIELD(type, name, count) bytes += cnn_workspace_room((size_t)(count), sizeof(type));
#define WORKSPACE(name, operand, convolution)                                                                          \
    size_t name(const void *shape_, int threads)                                                                       \
    {                                                                                                                  \
        const step_shape *shape = shape_;                                                                              \
        const cnn_cuts cuts = cnn_cuts_of(shape->n);                                                                   \
        size_t samples = (size_t)shape->n, rows = (size_t)cuts.tiles * CNN_HIDDEN_TILE, bytes = 0;                     \
        (void)threads;                                                                                                 \
        CNN_WORKSPACE_FIELDS(ADD_FIELD, operand, convolution)                                                          \
        return bytes;                                                                                                  \
    }
WORKSPACE(heddle_cnn_step_tf32x3_workspace, float, float)
WORKSPACE(heddle_cnn_step_tf32_workspace, float, uint16_t)
WORKSPACE(heddle_cnn_step_16bit_workspace, uint16_t, uint16_t)

#define CUDA_RUNG(rung, can, bits, kind, card, lacking, text)                                                          \
    HEDDLE_CNN_CUDA_RUNG(rung, can, heddle_cnn_step_##bits##_workspace, kind, card, lacking, text)

HEDDLE_BY_REFERENCE(cnn_step)

// Slowest first.
static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(cnn_step),
    CUDA_RUNG("03_fp16", heddle_cnn_step_is_mnist_cnn, 16bit, HEDDLE_FP16, 80, NULL,
              "seven kernels on tensor cores, 16-bit operands, products by mma.sync"),
    CUDA_RUNG("04_bf16", heddle_cnn_step_is_mnist_cnn, 16bit, HEDDLE_BFLOAT, 80, NULL,
              "the same with float's range: nothing can overflow"),
    CUDA_RUNG("05_tf32x3_wgmma", heddle_cnn_step_is_mnist_cnn, tf32x3, HEDDLE_TF32X3, 90, "wgmma",
              "products by wgmma, forward and backward, on two halves per float: nearly fp32"),
    CUDA_RUNG("06_tf32_wgmma", heddle_cnn_step_is_mnist_cnn_in_tf32, tf32, HEDDLE_TF32, 90, "wgmma",
              "one half per float, with as much mantissa as tf32"),
    CUDA_RUNG("07_fp16_wgmma", heddle_cnn_step_is_mnist_cnn, 16bit, HEDDLE_FP16, 90, "wgmma",
              "03 with convolutions and hidden layer by wgmma, forward and backward"),
    CUDA_RUNG("08_bf16_wgmma", heddle_cnn_step_is_mnist_cnn, 16bit, HEDDLE_BFLOAT, 90, "wgmma",
              "04 with convolutions and hidden layer by wgmma, forward and backward: tensor cores at their full rate"),
};

const heddle_op heddle_op_cnn_step = {
    .name = "cnn_step",
    .ladder_name = "cnn_step",
    .summary = "loss and every gradient of the MNIST CNN on a batch of a resident dataset",
    .shape_size = sizeof(step_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = heddle_cnn_step_reference,
    .exactness = HEDDLE_NORM,
    .reduction = reduction,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
