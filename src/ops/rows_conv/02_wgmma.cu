// rows_conv_forward, rung 2: wgmma, with every tap reading the rows from another first row.
//
// Rung 1 loads two elements per product. Here a block keeps its weights in shared memory and loads each row once for
// all taps, and the tensor cores multiply 64 channels by up to 256 rows at a time (product_wgmma.h). The epilogue adds
// the bias, applies the function and sums the channels for batchnorm while a tile is still in registers. Bytes pass
// through the same kernel, 32 instead of 16 columns per instruction.
//
// Limited by: the tensor cores, from some hundred thousand rows on; below that by the latency of loads and stores.

#include "ops/rows_conv/launch_wgmma.h"

static rows_operands operands_of(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    rows_operands on = {};
    on.input = call->input[0];
    on.weight = call->input[1];
    on.output = call->output[0];
    on.c = shape->int8 ? shape->c / 2 : shape->c;
    on.k = shape->k;
    on.turn = 1;
    on.out_h = heddle_rows_conv_out_h(shape);
    on.out_w = heddle_rows_conv_out_w(shape);
    return on;
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    if (!rows_aligned(call) || (call->output[1] && !call->output[2])) // sums need counters
        return heddle_rows_conv_forward_naive(call);
    rows_epilogue end = {};
    end.bias = (const float *)call->input[2];
    end.function = shape->function;
    end.zero_gaps = shape->zero_gaps;
    end.parts = (float *)call->workspace;
    end.sums = (float *)call->output[1];
    end.arrived = (int *)call->output[2];
    const heddle_status status = end.sums ? rows_launch<Element, 0, ROWS_END_SUMS>(call, operands_of(call), end)
                                          : rows_launch<Element, 0, ROWS_END_STORE>(call, operands_of(call), end);
    return status == HEDDLE_UNSUPPORTED ? heddle_rows_conv_forward_naive(call)
                                        : status; // lines too wide for its memory
}

template <> heddle_status forward_with<int8_t>(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    if (!rows_aligned(call))
        return heddle_rows_conv_forward_naive(call);
    rows_epilogue end = {};
    end.bias = (const float *)call->input[2];
    end.scale = (const float *)call->input[3];
    end.function = shape->function;
    end.zero_gaps = shape->zero_gaps;
    const heddle_status status = rows_launch<int8_t, 0, ROWS_END_STORE>(call, operands_of(call), end);
    return status == HEDDLE_UNSUPPORTED ? heddle_rows_conv_forward_naive(call) : status;
}

template <typename Element> static heddle_status logits_with(const heddle_call *call)
{
    const heddle_rows_conv_shape *shape = (const heddle_rows_conv_shape *)call->shape;
    if (!rows_aligned(call))
        return heddle_rows_conv_logits_naive(call);
    rows_epilogue end = {};
    end.bias = (const float *)call->input[2];
    end.function = shape->function;
    end.floats = (float *)call->output[0];
    const heddle_status status = rows_launch<Element, 0, ROWS_END_FLOATS>(call, operands_of(call), end);
    return status == HEDDLE_UNSUPPORTED ? heddle_rows_conv_logits_naive(call) : status;
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(heddle_rows_conv_shape, forward_with, call);
}

static heddle_status launch_logits(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(heddle_rows_conv_shape, logits_with, call);
}

HEDDLE_CUDA_RUNG("rows_conv_forward", "02_wgmma", launch)
HEDDLE_CUDA_RUNG("rows_conv_logits", "02_wgmma", launch_logits)
