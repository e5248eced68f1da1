// transpose, second rung: square blocks, so that the cache lines of both sides stay in L1 until they are used up. All
// threads share the output's bands.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/pieces.h"
#include "ops/transpose/transpose.h"

enum { BLOCK = 16 }; // floats per cache line

static void transpose_block(const heddle_rows_shape *shape, const float *input, float *output, int first_row,
                            int first_col)
{
    int last_row = first_row + BLOCK < shape->rows ? first_row + BLOCK : shape->rows;
    int last_col = first_col + BLOCK < shape->cols ? first_col + BLOCK : shape->cols;
    for (int col = first_col; col < last_col; col++)
        for (int row = first_row; row < last_row; row++)
            output[(size_t)col * shape->rows + row] = input[(size_t)row * shape->cols + col];
}

static void transpose_bands(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    (void)worker;
    const heddle_call *call = context;
    const heddle_rows_shape *shape = call->shape;
    for (size_t band = begin; band < end; band++)
        for (int row = 0; row < shape->rows; row += BLOCK)
            transpose_block(shape, call->input[0], call->output[0], row, (int)band * BLOCK);
}

heddle_status heddle_transpose_cpu_blocked(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    size_t bands = ((size_t)shape->cols + BLOCK - 1) / BLOCK;
    heddle_pieces_run(call->pool, bands, heddle_piece_rows((size_t)shape->rows * BLOCK), transpose_bands, (void *)call);
    return HEDDLE_OK;
}
