// batchnorm2d_relu on the CPU: batchnorm2d's rungs, then relu in a second pass. The naive rung uses one thread, the
// other all.

#include "heddle/ops.h"
#include "ops/batchnorm2d/batchnorm2d.h"
#include "ops/batchnorm2d_relu/batchnorm2d_relu.h"
#include "ops/pieces.h"

static void relu_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    (void)worker;
    float *values = context;
    for (size_t i = begin; i < end; i++)
        values[i] = values[i] < 0.0f ? 0.0f : values[i]; // in this order NaN is preserved
}

static heddle_status run(heddle_status (*normalise)(const heddle_call *call), const heddle_call *call,
                         heddle_pool *pool)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    size_t elements = (size_t)shape->n * (size_t)shape->c * (size_t)shape->h * (size_t)shape->w;
    HEDDLE_TRY(normalise(call));
    heddle_pieces_run(pool, elements, HEDDLE_PIECE_ELEMENTS, relu_piece, call->output[0]);
    return HEDDLE_OK;
}

heddle_status heddle_batchnorm2d_relu_cpu_naive(const heddle_call *call)
{
    return run(heddle_batchnorm2d_forward_cpu_naive, call, NULL);
}

heddle_status heddle_batchnorm2d_relu_cpu_channels(const heddle_call *call)
{
    return run(heddle_batchnorm2d_forward_cpu_channels, call, call->pool);
}
