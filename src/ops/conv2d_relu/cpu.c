// conv2d_bias_relu on the CPU: conv2d's rungs, then relu in a pass over the output, which is still partly in the
// caches. The naive rung uses one thread, the others all.

#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d_relu/conv2d_relu.h"
#include "ops/pieces.h"

static void relu_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    (void)worker;
    float *values = context;
    for (size_t i = begin; i < end; i++)
        values[i] = values[i] < 0.0f ? 0.0f : values[i]; // in this order NaN is preserved
}

static heddle_status run(heddle_status (*convolve)(const heddle_call *call), const heddle_call *call, heddle_pool *pool)
{
    const heddle_conv2d_shape *shape = call->shape;
    size_t outputs =
        (size_t)shape->n * (size_t)shape->k * (size_t)heddle_conv2d_out_h(shape) * (size_t)heddle_conv2d_out_w(shape);
    HEDDLE_TRY(convolve(call));
    heddle_pieces_run(pool, outputs, HEDDLE_PIECE_ELEMENTS, relu_piece, call->output[0]);
    return HEDDLE_OK;
}

heddle_status heddle_conv2d_bias_relu_cpu_naive(const heddle_call *call)
{
    return run(heddle_conv2d_forward_cpu_naive, call, NULL);
}

heddle_status heddle_conv2d_bias_relu_cpu_im2col(const heddle_call *call)
{
    return run(heddle_conv2d_forward_cpu_im2col, call, call->pool);
}

heddle_status heddle_conv2d_bias_relu_cpu_direct(const heddle_call *call)
{
    return run(heddle_conv2d_forward_cpu_direct, call, call->pool);
}

heddle_status heddle_conv2d_bias_relu_cpu_winograd(const heddle_call *call)
{
    return run(heddle_conv2d_forward_cpu_winograd, call, call->pool);
}
