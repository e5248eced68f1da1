// scale_unless_one, second rung: pieces of the values on all threads.
//
// Limited by: memory bandwidth.

#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/scale/scale.h"

HEDDLE_CLONES static void multiply(float *values, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++)
        values[i] *= factor;
}

static void piece(void *context, size_t begin, size_t end, int number, int worker)
{
    (void)number, (void)worker;
    const heddle_call *call = context;
    multiply((float *)call->output[0] + begin, end - begin, *(const float *)call->input[0]);
}

heddle_status heddle_scale_unless_one_cpu_pieces(const heddle_call *call)
{
    if (*(const float *)call->input[0] != 1)
        heddle_pieces_run(call->pool, (size_t)((const heddle_elements_shape *)call->shape)->n, HEDDLE_PIECE_ELEMENTS,
                          piece, (void *)call);
    return HEDDLE_OK;
}
