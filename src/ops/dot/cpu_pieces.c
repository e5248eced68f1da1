// dot, second rung: all threads share pieces of fixed size, with several running sums in each. The sums of the pieces
// are added in order, so the result does not depend on the number of threads.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/define.h"
#include "ops/dot/dot.h"
#include "ops/lanes.h"
#include "ops/pieces.h"

HEDDLE_CLONES static double dot_elements(const float *x, const float *y, size_t count)
{
    return heddle_sum_products_from(x, 0, y, count);
}

static void dot_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const float *x = call->input[0], *y = call->input[1];
    ((double *)call->workspace)[piece] = dot_elements(x + begin, y + begin, end - begin);
}

HEDDLE_SHARED_WORKSPACE(heddle_dot_cpu_pieces_workspace, heddle_elements_shape,
                        (size_t)heddle_piece_count((size_t)shape->n, HEDDLE_PIECE_ELEMENTS) * sizeof(double))

heddle_status heddle_dot_cpu_pieces(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, dot_piece, (void *)call);
    const double *sums = call->workspace;
    double total = 0;
    for (int piece = 0; piece < heddle_piece_count((size_t)shape->n, HEDDLE_PIECE_ELEMENTS); piece++)
        total += sums[piece];
    *(float *)call->output[0] = (float)total;
    return HEDDLE_OK;
}
