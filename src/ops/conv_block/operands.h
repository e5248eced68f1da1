// The operands of conv_block and of stem_block. They differ only in what forward saves for backward (`kept`: the
// convolution's output, or the moments of the input) and in grad_input, which a first layer does not have.
#pragma once

#include "ops/conv_block/conv_block.h"
#include "ops/define.h"

// clang-format off
#define HEDDLE_CONV_BLOCK_PARAMETERS                                                                                   \
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv_block_input_dims)},                                 \
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, heddle_conv_block_weight_dims)},                               \
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims), .optional = true},              \
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims)},                               \
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims)}

#define HEDDLE_CONV_BLOCK_FORWARD_OPERANDS(kept, type, kept_dims)                                                      \
    HEDDLE_CONV_BLOCK_PARAMETERS,                                                                                      \
    {HEDDLE_FLOAT_OUTPUT("output", heddle_conv_block_output_dims)},                                                    \
    {(kept), HEDDLE_OUTPUT, (type), HEDDLE_VALUES_NORMAL, (kept_dims), .saved = true},                                 \
    {HEDDLE_FLOAT_OUTPUT("mean", heddle_conv_block_channel_dims), .saved = true},                                      \
    {HEDDLE_FLOAT_OUTPUT("inverse_std", heddle_conv_block_channel_dims), .saved = true},                               \
    {"code", HEDDLE_OUTPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, heddle_conv_block_code_dims, .saved = true},               \
    {HEDDLE_FLOAT_UPDATE("running_mean", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims), .optional = true},     \
    {HEDDLE_FLOAT_UPDATE("running_var", HEDDLE_VALUES_POSITIVE, heddle_conv_block_channel_dims), .optional = true}

// What backward takes; grad_input, if there is one, goes between this and the parameters' gradients.
#define HEDDLE_CONV_BLOCK_BACKWARD_OPERANDS(kept, type, kept_dims)                                                     \
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv_block_input_dims)},                                 \
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, heddle_conv_block_weight_dims)},                               \
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims)},                               \
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, heddle_conv_block_channel_dims)},                                \
    {(kept), HEDDLE_INPUT, (type), HEDDLE_VALUES_SAVED, (kept_dims)},                                                  \
    {HEDDLE_FLOAT_INPUT("mean", HEDDLE_VALUES_SAVED, heddle_conv_block_channel_dims)},                                 \
    {HEDDLE_FLOAT_INPUT("inverse_std", HEDDLE_VALUES_SAVED, heddle_conv_block_channel_dims)},                          \
    {"code", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_SAVED, heddle_conv_block_code_dims},                               \
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_conv_block_output_dims)}

#define HEDDLE_CONV_BLOCK_GRADIENTS                                                                                    \
    {HEDDLE_FLOAT_OUTPUT("grad_weight", heddle_conv_block_weight_dims)},                                               \
    {HEDDLE_FLOAT_OUTPUT("grad_bias", heddle_conv_block_channel_dims), .optional = true},                              \
    {HEDDLE_FLOAT_OUTPUT("grad_gamma", heddle_conv_block_channel_dims)},                                               \
    {HEDDLE_FLOAT_OUTPUT("grad_beta", heddle_conv_block_channel_dims)}
// clang-format on

enum { HEDDLE_CONV_BLOCK_INFERENCE_OPERANDS = 8 };
extern const heddle_operand heddle_conv_block_inference_table[HEDDLE_CONV_BLOCK_INFERENCE_OPERANDS];
#define HEDDLE_CONV_BLOCK_INFERENCE                                                                                    \
    .operands = heddle_conv_block_inference_table, .operand_count = HEDDLE_CONV_BLOCK_INFERENCE_OPERANDS
