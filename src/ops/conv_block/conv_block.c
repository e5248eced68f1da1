// conv_block: what it computes, its cost, and its ladder. The arithmetic is in reference.c and the rungs' files.

#include "ops/conv_block/conv_block.h"

#include <limits.h>
#include <math.h>

#include "ops/conv_block/operands.h"
#include "ops/cpu/kernels.h"

typedef heddle_conv_block_shape block_shape;

const heddle_field heddle_conv_block_fields[HEDDLE_CONV_BLOCK_FIELDS] = {
    {HEDDLE_REQUIRED_INT(block_shape, n, "images")},
    {HEDDLE_REQUIRED_INT(block_shape, c, "input channels")},
    {HEDDLE_REQUIRED_INT(block_shape, h, "image height")},
    {HEDDLE_REQUIRED_INT(block_shape, w, "image width")},
    {HEDDLE_REQUIRED_INT(block_shape, k, "output channels")},
    {HEDDLE_OPTIONAL_INT(block_shape, input_channels_last, 0, "1: input is (n, h, w, c)")},
    {HEDDLE_OPTIONAL_INT(block_shape, output_channels_last, 0, "1: output is (n, h/2, w/2, k)")},
    {HEDDLE_OPTIONAL_FLOAT(block_shape, epsilon, 1e-5, "added to the variance")},
    {HEDDLE_OPTIONAL_FLOAT(block_shape, momentum, 0.1, "weight of the new value in the running statistics")},
};

// Sizes are counted in elements of the largest operand; beyond this a byte count could overflow.
static const double MOST_ELEMENTS = (double)((int64_t)1 << 48);

heddle_status heddle_conv_block_validate(const void *shape_)
{
    const block_shape *shape = shape_;
    if (shape->n < 1 || shape->c < 1 || shape->k < 1)
        return heddle_fail(HEDDLE_INVALID, "conv block of n=%d images, c=%d and k=%d channels: each must be at least 1",
                           shape->n, shape->c, shape->k);
    if (shape->h < 2 || shape->w < 2)
        return heddle_fail(HEDDLE_INVALID, "conv block of %d×%d images: 2×2 pooling needs at least 2×2", shape->h,
                           shape->w);
    if ((shape->input_channels_last | shape->output_channels_last) & ~1)
        return heddle_fail(HEDDLE_INVALID, "conv block: input_channels_last and output_channels_last are 0 or 1");
    if (!(shape->epsilon > 0) || !isfinite(shape->epsilon))
        return heddle_fail(HEDDLE_INVALID, "conv block: epsilon is %g, must be above 0", shape->epsilon);
    if (!(shape->momentum >= 0 && shape->momentum <= 1))
        return heddle_fail(HEDDLE_INVALID, "conv block: momentum is %g, must be in [0, 1]", shape->momentum);
    double channels = fmax(shape->c, shape->k);
    // Positions inside one image are ints in the rungs, including padding and rounding up of channels.
    if ((shape->h + 2.0) * (shape->w + 2.0) * (channels + HEDDLE_CPU_PANEL) > INT_MAX)
        return heddle_fail(HEDDLE_INVALID, "conv block: one image of %d×%d pixels and %.0f channels does not fit",
                           shape->h, shape->w, channels);
    if (heddle_conv_block_pixels(shape) * channels > MOST_ELEMENTS ||
        (double)shape->c * shape->k * HEDDLE_CONV_BLOCK_TAPS > MOST_ELEMENTS)
        return heddle_fail(HEDDLE_INVALID, "conv block of n=%d h=%d w=%d c=%d k=%d does not fit in memory", shape->n,
                           shape->h, shape->w, shape->c, shape->k);
    return HEDDLE_OK;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_SHARED_DIMS(heddle_conv_block_input_dims, block_shape, shape->n,
                   shape->input_channels_last ? shape->h : shape->c, shape->input_channels_last ? shape->w : shape->h,
                   shape->input_channels_last ? shape->c : shape->w)
HEDDLE_SHARED_DIMS(heddle_conv_block_output_dims, block_shape, shape->n,
                   shape->output_channels_last ? shape->h / 2 : shape->k,
                   shape->output_channels_last ? shape->w / 2 : shape->h / 2,
                   shape->output_channels_last ? shape->k : shape->w / 2)
HEDDLE_SHARED_DIMS(heddle_conv_block_weight_dims, block_shape, shape->k, shape->c, 3, 3)
HEDDLE_SHARED_DIMS(heddle_conv_block_channel_dims, block_shape, shape->k)
HEDDLE_SHARED_DIMS(heddle_conv_block_code_dims, block_shape, shape->n, shape->h / 2, shape->w / 2, shape->k)
HEDDLE_DIMS(convolution_dims, block_shape, shape->n, shape->h, shape->w, shape->k)

static const heddle_operand forward_operands[] = {
    HEDDLE_CONV_BLOCK_FORWARD_OPERANDS("convolution", HEDDLE_F32, convolution_dims)};

static const heddle_operand backward_operands[] = {
    HEDDLE_CONV_BLOCK_BACKWARD_OPERANDS("convolution", HEDDLE_F32, convolution_dims),
    {HEDDLE_FLOAT_OUTPUT("grad_input", heddle_conv_block_input_dims), .optional = true},
    HEDDLE_CONV_BLOCK_GRADIENTS,
};

const heddle_operand heddle_conv_block_inference_table[HEDDLE_CONV_BLOCK_INFERENCE_OPERANDS] = {
    HEDDLE_CONV_BLOCK_PARAMETERS,
    {HEDDLE_FLOAT_INPUT("running_mean", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims)},
    {HEDDLE_FLOAT_INPUT("running_var", HEDDLE_VALUES_POSITIVE, heddle_conv_block_channel_dims)},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_conv_block_output_dims)},
};

// --- cost -----------------------------------------------------------------------------------------------------------

// One pass of the convolution; batchnorm, relu and pooling are a few operations per output and do not count.
static double convolution_flops(const block_shape *shape)
{
    return 2 * heddle_conv_block_pixels(shape) * shape->k * shape->c * HEDDLE_CONV_BLOCK_TAPS;
}

static double input_elements(const block_shape *shape)
{
    return heddle_conv_block_pixels(shape) * shape->c;
}

static double convolution_elements(const block_shape *shape)
{
    return heddle_conv_block_pixels(shape) * shape->k;
}

static double pooled_elements(const block_shape *shape)
{
    return (double)shape->n * (shape->h / 2) * (shape->w / 2) * shape->k;
}

static double weight_elements(const block_shape *shape)
{
    return (double)shape->k * shape->c * HEDDLE_CONV_BLOCK_TAPS;
}

// What must move whatever is saved: the input and weights in, the pooled output and its code out.
heddle_cost heddle_conv_block_forward_cost(const void *shape_)
{
    const block_shape *shape = shape_;
    return (heddle_cost){
        .flops = convolution_flops(shape),
        .bytes_read = sizeof(float) * (input_elements(shape) + weight_elements(shape)),
        .bytes_written = (sizeof(float) + 1) * pooled_elements(shape),
    };
}

heddle_cost heddle_conv_block_inference_cost(const void *shape_)
{
    heddle_cost cost = heddle_conv_block_forward_cost(shape_);
    cost.bytes_written = sizeof(float) * pooled_elements(shape_);
    return cost;
}

static heddle_cost forward_cost(const void *shape_)
{
    heddle_cost cost = heddle_conv_block_forward_cost(shape_);
    cost.bytes_written += sizeof(float) * convolution_elements(shape_);
    return cost;
}

static heddle_cost backward_cost(const void *shape_)
{
    const block_shape *shape = shape_;
    return (heddle_cost){
        .flops = 2 * convolution_flops(shape),
        .bytes_read = sizeof(float) * (input_elements(shape) + weight_elements(shape) + convolution_elements(shape)) +
                      (sizeof(float) + 1) * pooled_elements(shape),
        .bytes_written = sizeof(float) * (input_elements(shape) + weight_elements(shape)),
    };
}

HEDDLE_SHARED_OF_SHAPE(int64_t, heddle_conv_block_reduction, block_shape,
                       (int64_t)shape->n * shape->h * shape->w +
                           (int64_t)HEDDLE_CONV_BLOCK_TAPS * (shape->c > shape->k ? shape->c : shape->k))

// --- the ladders ----------------------------------------------------------------------------------------------------

// Ones, odd sides (pooling floors, statistics do not), channel counts that are not multiples of any vector width, an
// image of many tiles.
static const char *const test_shapes[] = {
    "n=1 c=1 h=2 w=2 k=1",
    "n=2 c=3 h=5 w=7 k=5",
    "n=3 c=5 h=6 w=4 k=17 input_channels_last=1",
    "n=1 c=2 h=3 w=11 k=4 output_channels_last=1 momentum=1",
    "n=2 c=16 h=9 w=8 k=32 input_channels_last=1 output_channels_last=1",
    "n=11 c=4 h=2 w=3 k=16 epsilon=0.1",
    "n=4 c=5 h=19 w=22 k=21 input_channels_last=1", // more pixels than CONV_BLOCK_FEW_PIXELS
    "n=1 c=16 h=10 w=14 k=64 input_channels_last=1",
    "n=2 c=40 h=3 w=4 k=100 input_channels_last=1", // more than one tile of filters in both directions
    "n=1 c=1 h=66 w=70 k=2",                        // pooled, more than a block of 32×32, and
    "n=2 c=1 h=4 w=2 k=261",                        // more channels than the usual number of threads per block
    NULL,
};

static const char *const bench_shapes[] = {
    "n=64 c=32 h=14 w=14 k=64 input_channels_last=1",
    "n=256 c=32 h=14 w=14 k=64 input_channels_last=1",
    "n=32 c=64 h=56 w=56 k=64 input_channels_last=1 output_channels_last=1",
    NULL,
};

static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv_block_cpu_naive_forward,
     .note = "plain loops, one layer after another: one multiplication at a time"},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_FUSED, heddle_conv_block_cpu_winograd_forward,
     .note = "F(2×2, 3×3) one image at a time, in cache: 2.25 times fewer multiplications",
     .workspace = heddle_conv_block_cpu_winograd_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE,
     .note = "one kernel per layer, one thread per element: two loads per multiplication"},
    {"02_statistics_in_epilogue", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "a tiled product with statistics in its epilogue, then one pass to the pooled output: limited by "
             "multiplications",
     .workspace = heddle_conv_block_cuda_forward_workspace},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv_block_cpu_naive_backward,
     .note = "plain loops, one layer after another: one multiplication at a time",
     .workspace = heddle_conv_block_cpu_naive_backward_workspace},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_FUSED, heddle_conv_block_cpu_winograd_backward,
     .note = "the transposed algorithm; the gradient of the convolution is never stored",
     .workspace = heddle_conv_block_cpu_winograd_backward_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE,
     .note = "one kernel per layer, one thread per element: few threads with long sums for the weight",
     .workspace = heddle_conv_block_cuda_naive_backward_workspace},
    {"02_gradient_once", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "the convolution's gradient computed in one pass, then two tiled products: limited by multiplications",
     .workspace = heddle_conv_block_cuda_backward_workspace},
    {"03_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "rung 2's products on tensor cores, in tf32: limited by traffic of the convolution and its gradient",
     .workspace = heddle_conv_block_cuda_backward_workspace, .arithmetic = HEDDLE_TF32, .capability = 80},
};

static const heddle_rung inference_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv_block_cpu_naive_inference,
     .note = "plain loops, one pooled value at a time: one multiplication at a time"},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_FUSED, heddle_conv_block_cpu_winograd_inference,
     .note = "F(2×2, 3×3) with batchnorm in the filters and pooling in registers",
     .workspace = heddle_conv_block_cpu_winograd_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, .note = "one thread per pooled value: two loads per multiplication"},
    {"02_folded_batchnorm", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "batchnorm in the weight, relu and pooling in the product's registers: limited by multiplications",
     .workspace = heddle_conv_block_cuda_inference_workspace},
    {"03_tensor_cores", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "rung 2's product on tensor cores, in tf32: limited by traffic through shared memory",
     .workspace = heddle_conv_block_cuda_inference_workspace, .arithmetic = HEDDLE_TF32, .capability = 80},
};

static const heddle_op *const gradients[] = {&heddle_op_conv_block_backward, NULL};

#define COMMON                                                                                                         \
    .ladder_name = "conv_block", .shape_size = sizeof(block_shape), .fields = heddle_conv_block_fields,                \
    .field_count = HEDDLE_CONV_BLOCK_FIELDS, .validate = heddle_conv_block_validate, .exactness = HEDDLE_ROUNDING,     \
    .reduction = heddle_conv_block_reduction, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_conv_block_forward = {
    .name = "conv_block_forward",
    .summary = "3×3 convolution, batchnorm (batch statistics), relu and 2×2 max pooling in one",
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = heddle_conv_block_reference_forward,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
    COMMON,
};

const heddle_op heddle_op_conv_block_backward = {
    .name = "conv_block_backward",
    .summary = "gradients of conv_block_forward",
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = heddle_conv_block_reference_backward,
    HEDDLE_LADDER(backward_ladder),
    COMMON,
};

const heddle_op heddle_op_conv_block_inference = {
    .name = "conv_block_inference",
    .summary = "3×3 convolution, batchnorm (running statistics), relu and 2×2 max pooling in one",
    HEDDLE_CONV_BLOCK_INFERENCE,
    .cost = heddle_conv_block_inference_cost,
    .reference = heddle_conv_block_reference_inference,
    HEDDLE_LADDER(inference_ladder),
    COMMON,
};
