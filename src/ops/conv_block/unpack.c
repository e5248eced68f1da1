// A call's operands by name. The rungs use it; the order is that of the tables in conv_block.c.

#include "ops/conv_block/conv_block.h"

heddle_conv_block_forward_operands heddle_conv_block_forward_unpack(const heddle_call *call)
{
    return (heddle_conv_block_forward_operands){
        .input = call->input[0],
        .weight = call->input[1],
        .bias = call->input[2],
        .gamma = call->input[3],
        .beta = call->input[4],
        .output = call->output[0],
        .convolution = call->output[1],
        .mean = call->output[2],
        .inverse_std = call->output[3],
        .code = call->output[4],
        .running_mean = call->output[5],
        .running_var = call->output[6],
    };
}

heddle_conv_block_backward_operands heddle_conv_block_backward_unpack(const heddle_call *call)
{
    return (heddle_conv_block_backward_operands){
        .input = call->input[0],
        .weight = call->input[1],
        .gamma = call->input[2],
        .convolution = call->input[4],
        .mean = call->input[5],
        .inverse_std = call->input[6],
        .code = call->input[7],
        .grad_output = call->input[8],
        .grad_input = call->output[0],
        .grad_weight = call->output[1],
        .grad_bias = call->output[2],
        .grad_gamma = call->output[3],
        .grad_beta = call->output[4],
    };
}

heddle_conv_block_inference_operands heddle_conv_block_inference_unpack(const heddle_call *call)
{
    return (heddle_conv_block_inference_operands){
        .input = call->input[0],
        .weight = call->input[1],
        .bias = call->input[2],
        .gamma = call->input[3],
        .beta = call->input[4],
        .running_mean = call->input[5],
        .running_var = call->input[6],
        .output = call->output[0],
    };
}
