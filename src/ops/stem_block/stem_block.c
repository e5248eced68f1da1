// stem_block: what it computes, what it costs, and its ladder. The arithmetic is in reference.c and the rungs' files.

#include "ops/stem_block/stem_block.h"

#include "ops/define.h"

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

static int moments_dims(const void *shape_, int dims[HEDDLE_MAX_DIMS])
{
    int patch = heddle_stem_block_patch(shape_);
    return heddle_dims2(dims, patch + 1, patch);
}

#define INPUT_DIMS   .dims = heddle_conv_block_input_dims
#define OUTPUT_DIMS  .dims = heddle_conv_block_output_dims
#define WEIGHT_DIMS  .dims = heddle_conv_block_weight_dims
#define CHANNEL_DIMS .dims = heddle_conv_block_channel_dims
#define CODE_DIMS    .dims = heddle_conv_block_code_dims

static const heddle_operand forward_operands[] = {
    {"input", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, INPUT_DIMS},
    {"weight", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, WEIGHT_DIMS},
    {"bias", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS, .optional = true},
    {"gamma", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"beta", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"output", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, OUTPUT_DIMS},
    {"moments", HEDDLE_OUTPUT, HEDDLE_F64, HEDDLE_VALUES_NORMAL, .dims = moments_dims, .saved = true},
    {"mean", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS, .saved = true},
    {"inverse_std", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS, .saved = true},
    {"code", HEDDLE_OUTPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, CODE_DIMS, .saved = true},
    {"running_mean", HEDDLE_UPDATE, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS, .optional = true},
    {"running_var", HEDDLE_UPDATE, HEDDLE_F32, HEDDLE_VALUES_POSITIVE, CHANNEL_DIMS, .optional = true},
};

static const heddle_operand backward_operands[] = {
    {"input", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, INPUT_DIMS},
    {"weight", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, WEIGHT_DIMS},
    {"gamma", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"beta", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"moments", HEDDLE_INPUT, HEDDLE_F64, HEDDLE_VALUES_SAVED, .dims = moments_dims},
    {"mean", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_SAVED, CHANNEL_DIMS},
    {"inverse_std", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_SAVED, CHANNEL_DIMS},
    {"code", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_SAVED, CODE_DIMS},
    {"grad_output", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, OUTPUT_DIMS},
    {"grad_weight", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, WEIGHT_DIMS},
    {"grad_bias", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS, .optional = true},
    {"grad_gamma", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"grad_beta", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
};

static const heddle_operand inference_operands[] = {
    {"input", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, INPUT_DIMS},
    {"weight", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, WEIGHT_DIMS},
    {"bias", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS, .optional = true},
    {"gamma", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"beta", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"running_mean", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, CHANNEL_DIMS},
    {"running_var", HEDDLE_INPUT, HEDDLE_F32, HEDDLE_VALUES_POSITIVE, CHANNEL_DIMS},
    {"output", HEDDLE_OUTPUT, HEDDLE_F32, HEDDLE_VALUES_NORMAL, OUTPUT_DIMS},
};

// conv_block's order, with moments where the convolution stands there.
heddle_conv_block_forward_operands heddle_stem_block_forward_unpack(const heddle_call *call)
{
    heddle_conv_block_forward_operands operands = heddle_conv_block_forward_unpack(call);
    operands.convolution = NULL;
    operands.moments = call->output[1];
    return operands;
}

heddle_conv_block_backward_operands heddle_stem_block_backward_unpack(const heddle_call *call)
{
    return (heddle_conv_block_backward_operands){
        .input = call->input[0],
        .weight = call->input[1],
        .gamma = call->input[2],
        .moments = call->input[4],
        .mean = call->input[5],
        .inverse_std = call->input[6],
        .code = call->input[7],
        .grad_output = call->input[8],
        .grad_weight = call->output[0],
        .grad_bias = call->output[1],
        .grad_gamma = call->output[2],
        .grad_beta = call->output[3],
    };
}

// --- cost -----------------------------------------------------------------------------------------------------------

// The weight gradient alone, from the same input; the pooled gradient and its code come in instead of going out.
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

// Ones, odd sides (pooling floors, statistics do not), channel counts off every vector width, both layouts.
static const char *const test_shapes[] = {
    "n=1 c=1 h=2 w=2 k=1",
    "n=3 c=1 h=5 w=7 k=5",
    "n=2 c=3 h=6 w=5 k=17 input_channels_last=1",
    "n=1 c=2 h=3 w=11 k=4 output_channels_last=1 momentum=1",
    "n=13 c=4 h=7 w=4 k=9 input_channels_last=1 output_channels_last=1 epsilon=0.1",
    "n=2 c=3 h=17 w=23 k=33",
    "n=2 c=1 h=28 w=28 k=32 output_channels_last=1",
    "n=1 c=2 h=5 w=70 k=3",  // more than one tile beside another
    "n=530 c=1 h=2 w=2 k=1", // more tiles than blocks
    "n=1 c=1 h=66 w=70 k=2", // pooled, more than a block of 32×32, and
    "n=2 c=1 h=4 w=2 k=261", // more channels than a usual block has threads
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
     .note = "plain loops; the convolution is computed again for every use of it"},
    {"cpu_fused", HEDDLE_CPU, HEDDLE_FUSED, heddle_stem_block_cpu_fused_forward,
     .note = "statistics from the moments of the patches; convolution, batchnorm, relu and pooling in registers",
     .workspace = heddle_stem_block_cpu_fused_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE,
     .note = "a kernel a layer, a thread an element, moments a block each: two loads for every multiplication",
     .workspace = heddle_stem_block_cuda_naive_forward_workspace},
    {"02_moments", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "statistics from the moments of the patches, all layers in registers: limited by the bytes written",
     .workspace = heddle_stem_block_cuda_forward_workspace},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_stem_block_cpu_naive_backward,
     .note = "plain loops; the convolution is computed again for every use of it"},
    {"cpu_fused", HEDDLE_CPU, HEDDLE_FUSED, heddle_stem_block_cpu_fused_backward,
     .note = "sums over the winners of the windows and the moments; the gradient of the convolution is never formed",
     .workspace = heddle_stem_block_cpu_fused_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE,
     .note = "a kernel a layer, the convolution computed again: few threads with long sums for the weight",
     .workspace = heddle_stem_block_cuda_naive_backward_workspace},
    {"02_winner_sums", HEDDLE_CUDA, HEDDLE_FUSED,
     .note = "sums over the windows' winners and the moments: limited by loads from shared memory",
     .workspace = heddle_stem_block_cuda_backward_workspace},
};

static const heddle_rung inference_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv_block_cpu_naive_inference,
     .note = "plain loops, a pooled value at a time: one multiplication at a time"},
    {"cpu_fused", HEDDLE_CPU, HEDDLE_FUSED, heddle_stem_block_cpu_fused_inference,
     .note = "batchnorm in the filters; convolution, relu and pooling in registers",
     .workspace = heddle_stem_block_cpu_fused_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, .note = "a thread a pooled value: two loads for every multiplication"},
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
    .summary = "conv_block_forward for a first layer: keeps the input's moments, not the convolution",
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
    HEDDLE_OPERANDS(inference_operands),
    .cost = heddle_conv_block_inference_cost,
    .reference = heddle_conv_block_reference_inference,
    HEDDLE_LADDER(inference_ladder),
    COMMON,
};
