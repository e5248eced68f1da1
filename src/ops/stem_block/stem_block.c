// stem_block: what it computes, its cost, and its ladder. The arithmetic is in reference.c and the rungs' files.

#include "ops/stem_block/stem_block.h"

#include "ops/conv_block/operands.h"

typedef heddle_conv_block_shape block_shape;

static heddle_status validate(const void *shape_)
{
    const block_shape *shape = shape_;
    HEDDLE_TRY(heddle_conv_block_validate(shape));
    if (shape->c > HEDDLE_STEM_BLOCK_MOST_CHANNELS)
        return heddle_fail(HEDDLE_INVALID, "stem block of %d input channels: at most %d; use conv_block for more",
                           shape->c, HEDDLE_STEM_BLOCK_MOST_CHANNELS);
    return HEDDLE_OK;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(moments_dims, block_shape, heddle_stem_block_patch(shape) + 1, heddle_stem_block_patch(shape))

static const heddle_operand forward_operands[] = {
    HEDDLE_CONV_BLOCK_FORWARD_OPERANDS("moments", HEDDLE_F64, moments_dims)};

static const heddle_operand backward_operands[] = {
    HEDDLE_CONV_BLOCK_BACKWARD_OPERANDS("moments", HEDDLE_F64, moments_dims),
    HEDDLE_CONV_BLOCK_GRADIENTS,
};

// --- cost -----------------------------------------------------------------------------------------------------------

// Only the weight gradient, from the same input; the pooled gradient and its code come in instead of going out.
static heddle_cost backward_cost(const void *shape)
{
    heddle_cost forward = heddle_conv_block_forward_cost(shape);
    return (heddle_cost){
        .flops = forward.flops,
        .bytes_read = forward.bytes_read + forward.bytes_written,
        .bytes_written = sizeof(float) * (double)heddle_operand_elements(&heddle_op_stem_block_forward, 1, shape),
    };
}

// --- the ladders ----------------------------------------------------------------------------------------------------

// Ones, odd sides (pooling floors, statistics do not), channel counts that are not multiples of any vector width, both
// layouts.
static const char *const test_shapes[] = {
    "n=1 c=1 h=2 w=2 k=1",
    "n=3 c=1 h=5 w=7 k=5",
    "n=2 c=3 h=6 w=5 k=17 input_channels_last=1",
    "n=1 c=2 h=3 w=11 k=4 output_channels_last=1 momentum=1",
    "n=13 c=4 h=7 w=4 k=9 input_channels_last=1 output_channels_last=1 epsilon=0.1",
    "n=2 c=3 h=17 w=23 k=33",
    "n=2 c=1 h=28 w=28 k=32 output_channels_last=1",
    "n=1 c=2 h=5 w=70 k=3",  // more than one tile across
    "n=530 c=1 h=2 w=2 k=1", // more tiles than blocks
    "n=1 c=1 h=66 w=70 k=2", // pooled, more than a block of 32×32, and
    "n=2 c=1 h=4 w=2 k=261", // more channels than the usual number of threads per block
    NULL,
};

static const char *const bench_shapes[] = {
    "n=64 c=1 h=28 w=28 k=32 output_channels_last=1",
    "n=256 c=1 h=28 w=28 k=32 output_channels_last=1",
    "n=64 c=3 h=32 w=32 k=64 output_channels_last=1",
    NULL,
};

static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_stem_block_cpu_naive_forward,
     .note = "plain loops; the convolution is computed again for every use"},
    {"cpu_fused", HEDDLE_CPU, HEDDLE_FUSED, heddle_stem_block_cpu_fused_forward,
     .note = "statistics from the moments of the patches; convolution, batchnorm, relu and pooling in registers",
     .workspace = heddle_stem_block_cpu_fused_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE,
     .note = "one kernel per layer, one thread per element, one block per moment: two loads per multiplication",
     .workspace = heddle_stem_block_cuda_naive_forward_workspace},
    {"02_moments", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "statistics from the moments of the patches, all layers in registers: limited by the bytes written",
     .workspace = heddle_stem_block_cuda_forward_workspace},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_stem_block_cpu_naive_backward,
     .note = "plain loops; the convolution is computed again for every use"},
    {"cpu_fused", HEDDLE_CPU, HEDDLE_FUSED, heddle_stem_block_cpu_fused_backward,
     .note = "sums over the winners of the windows and the moments; the gradient of the convolution is never computed",
     .workspace = heddle_stem_block_cpu_fused_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE,
     .note = "one kernel per layer, the convolution computed again: few threads with long sums for the weight",
     .workspace = heddle_stem_block_cuda_naive_backward_workspace},
    {"02_winner_sums", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "sums over the windows' winners and the moments: limited by loads from shared memory",
     .workspace = heddle_stem_block_cuda_backward_workspace},
};

static const heddle_rung inference_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv_block_cpu_naive_inference,
     .note = "plain loops, one pooled value at a time: one multiplication at a time"},
    {"cpu_fused", HEDDLE_CPU, HEDDLE_FUSED, heddle_stem_block_cpu_fused_inference,
     .note = "batchnorm in the filters; convolution, relu and pooling in registers",
     .workspace = heddle_stem_block_cpu_fused_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, .note = "one thread per pooled value: two loads per multiplication"},
    {"02_folded_batchnorm", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "batchnorm in the weights; convolution, relu and pooling in registers: limited by the bytes written",
     .workspace = heddle_stem_block_cuda_inference_workspace},
};

static const heddle_op *const gradients[] = {&heddle_op_stem_block_backward, NULL};

#define COMMON                                                                                                         \
    .ladder_name = "stem_block", .shape_size = sizeof(block_shape), .fields = heddle_conv_block_fields,                \
    .field_count = HEDDLE_CONV_BLOCK_FIELDS, .validate = validate, .exactness = HEDDLE_ROUNDING,                       \
    .reduction = heddle_conv_block_reduction, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_stem_block_forward = {
    .name = "stem_block_forward",
    .summary = "conv_block_forward for a first layer: saves the input's moments, not the convolution",
    HEDDLE_OPERANDS(forward_operands),
    .cost = heddle_conv_block_forward_cost,
    .reference = heddle_stem_block_reference_forward,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
    COMMON,
};

const heddle_op heddle_op_stem_block_backward = {
    .name = "stem_block_backward",
    .summary = "gradients of stem_block_forward's parameters; its input has none",
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = heddle_stem_block_reference_backward,
    HEDDLE_LADDER(backward_ladder),
    COMMON,
};

const heddle_op heddle_op_stem_block_inference = {
    .name = "stem_block_inference",
    .summary = "conv_block_inference for a first layer of few input channels",
    HEDDLE_CONV_BLOCK_INFERENCE,
    .cost = heddle_conv_block_inference_cost,
    .reference = heddle_conv_block_reference_inference,
    HEDDLE_LADDER(inference_ladder),
    COMMON,
};
