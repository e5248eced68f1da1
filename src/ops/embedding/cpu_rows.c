// embedding forward, second rung: tokens over the threads, each row copied at once.
//
// Limited by: memory bandwidth.

#include <string.h>

#include "ops/embedding/embedding.h"
#include "ops/pieces.h"

static void copy_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const size_t cols = (size_t)((const heddle_embedding_shape *)call->shape)->cols;
    const int64_t *tokens = call->input[1];
    for (size_t i = begin; i < end; i++)
        memcpy((float *)call->output[0] + i * cols, (const float *)call->input[0] + (size_t)tokens[i] * cols,
               cols * sizeof(float));
}

heddle_status heddle_embedding_forward_cpu_rows(const heddle_call *call)
{
    const heddle_embedding_shape *shape = call->shape;
    HEDDLE_TRY(heddle_embedding_check_tokens(shape, call->input[1]));
    heddle_pieces_run(call->pool, (size_t)shape->n, heddle_piece_rows((size_t)shape->cols), copy_rows, (void *)call);
    return HEDDLE_OK;
}
