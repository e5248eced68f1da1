// sum and mean, second rung: all threads share pieces of fixed size, with several running sums in each. The sums of the
// pieces are added in order, so the result does not depend on the number of threads.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/define.h"
#include "ops/lanes.h"
#include "ops/pieces.h"
#include "ops/reduction/reduction.h"

HEDDLE_CLONES static double sum_elements(const float *x, size_t count)
{
    return heddle_sum(x, count);
}

static void sum_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    ((double *)call->workspace)[piece] = sum_elements((const float *)call->input[0] + begin, end - begin);
}

static double sum_of(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, sum_piece, (void *)call);
    const double *sums = call->workspace;
    double total = 0;
    for (int piece = 0; piece < heddle_piece_count((size_t)shape->n, HEDDLE_PIECE_ELEMENTS); piece++)
        total += sums[piece];
    return total;
}

HEDDLE_SHARED_WORKSPACE(heddle_reduction_forward_cpu_pieces_workspace, heddle_elements_shape,
                        (size_t)heddle_piece_count((size_t)shape->n, HEDDLE_PIECE_ELEMENTS) * sizeof(double))

heddle_status heddle_sum_forward_cpu_pieces(const heddle_call *call)
{
    *(float *)call->output[0] = (float)sum_of(call);
    return HEDDLE_OK;
}

heddle_status heddle_mean_forward_cpu_pieces(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    *(float *)call->output[0] = (float)(sum_of(call) / shape->n);
    return HEDDLE_OK;
}

typedef struct spread_work {
    float *grad_input;
    float value;
} spread_work;

static void spread_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const spread_work *work = context;
    for (size_t i = begin; i < end; i++)
        work->grad_input[i] = work->value;
}

static heddle_status spread(const heddle_call *call, float value)
{
    const heddle_elements_shape *shape = call->shape;
    spread_work work = {.grad_input = call->output[0], .value = value};
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, spread_piece, &work);
    return HEDDLE_OK;
}

heddle_status heddle_sum_backward_cpu_pieces(const heddle_call *call)
{
    return spread(call, *(const float *)call->input[0]);
}

heddle_status heddle_mean_backward_cpu_pieces(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    return spread(call, *(const float *)call->input[0] / (float)shape->n);
}
