// rows_conv_backward_data, rung 2: the forward product with opposite shifts and transposed weights.
//
// If the input is the result of a function, its gradient is multiplied by the function's slope before it is stored, so
// that the layer before gets the gradient of its own sums.
//
// Limited by: the same as rows_conv_forward.

#include "ops/rows_conv/launch_wgmma.h"

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    if (!rows_aligned(call))
        return heddle_rows_conv_data_naive(call);
    rows_operands on = {};
    on.input = call->input[0];
    on.weight = call->input[1];
    on.output = call->output[0];
    on.c = shape->k;
    on.k = shape->c;
    on.turn = -1;
    on.out_h = shape->h;
    on.out_w = shape->w;
    rows_epilogue end = {};
    end.zero_gaps = shape->zero_gaps;
    const bool plain = !call->input[2] || shape->function == HEDDLE_ROWS_IDENTITY;
    end.function = plain ? (int)HEDDLE_ROWS_IDENTITY : shape->function;
    end.activated = (const uint16_t *)call->input[2];
    const heddle_status status = plain ? rows_launch<Element, 1, ROWS_END_STORE>(call, on, end)
                                       : rows_launch<Element, 1, ROWS_END_SLOPE>(call, on, end);
    return status == HEDDLE_UNSUPPORTED ? heddle_rows_conv_data_naive(call) : status; // lines too wide for its memory
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(heddle_rows_conv_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_conv_backward_data", "02_wgmma", launch)
