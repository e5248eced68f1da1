// embedding backward, second rung: each thread has a strip of columns and goes through all tokens in their order, so
// that no two threads add to the same element and the result does not depend on their number.
//
// Limited by: memory bandwidth; a table of fewer columns than a strip has one thread.

#include <string.h>

#include "ops/clones.h"
#include "ops/embedding/embedding.h"
#include "ops/pieces.h"

enum { STRIP = 128 }; // columns per piece: 512 bytes of a row

HEDDLE_CLONES static void add_row(const float *restrict from, size_t count, float *restrict to)
{
    for (size_t j = 0; j < count; j++)
        to[j] += from[j];
}

static void clear(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    memset((float *)context + begin, 0, (end - begin) * sizeof(float));
}

static void add_strip(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_embedding_shape *shape = call->shape;
    const size_t cols = (size_t)shape->cols;
    const int64_t *tokens = call->input[0];
    float *grad_table = (float *)call->output[0] + begin;
    for (size_t i = 0; i < (size_t)shape->n; i++)
        add_row((const float *)call->input[1] + i * cols + begin, end - begin, grad_table + (size_t)tokens[i] * cols);
}

heddle_status heddle_embedding_backward_cpu_columns(const heddle_call *call)
{
    const heddle_embedding_shape *shape = call->shape;
    HEDDLE_TRY(heddle_embedding_check_tokens(shape, call->input[0]));
    heddle_pieces_run(call->pool, (size_t)shape->vocabulary * (size_t)shape->cols, HEDDLE_PIECE_ELEMENTS, clear,
                      call->output[0]);
    heddle_pieces_run(call->pool, (size_t)shape->cols, STRIP, add_strip, (void *)call);
    return HEDDLE_OK;
}
