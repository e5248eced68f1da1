// A call's operands by name, as conv_block's rungs know them.

#include "ops/stem_block/stem_block.h"

// conv_block's order, with moments instead of the convolution.
heddle_conv_block_forward_operands heddle_stem_block_forward_unpack(const heddle_call *call)
{
    heddle_conv_block_forward_operands operands = heddle_conv_block_forward_unpack(call);
    operands.convolution = NULL;
    operands.moments = call->output[1];
    return operands;
}

heddle_conv_block_backward_operands heddle_stem_block_backward_unpack(const heddle_call *call)
{
    heddle_call whole = *call;
    whole.output[0] = NULL; // grad_input
    for (int i = 1; i < HEDDLE_MAX_OPERANDS; i++)
        whole.output[i] = call->output[i - 1];
    heddle_conv_block_backward_operands operands = heddle_conv_block_backward_unpack(&whole);
    operands.convolution = NULL;
    operands.moments = call->input[4];
    return operands;
}
