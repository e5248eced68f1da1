// select, second rung: all threads share pieces of fixed size. Each piece is counted, in vector code; the counts are
// added up; then each piece is moved to its place, and its share of the zeros is written.
//
// Moving has no branch that depends on an element: every element is written to the next place, and the place advances
// by one or by none.
//
// Limited by: memory bandwidth; the input is read twice, the second time from a cache if it fits there.

#include <string.h>

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/define.h"
#include "ops/pieces.h"
#include "ops/select/select.h"

HEDDLE_SHARED_WORKSPACE(heddle_select_cpu_pieces_workspace, heddle_select_shape,
                        (size_t)heddle_piece_count((size_t)shape->n, HEDDLE_PIECE_ELEMENTS) * sizeof(int32_t))

HEDDLE_CLONES static int32_t count_selected(const float *input, size_t count, float threshold)
{
    int32_t selected = 0;
    for (size_t i = 0; i < count; i++)
        selected += input[i] > threshold;
    return selected;
}

static void count_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const heddle_select_shape *shape = call->shape;
    const float *input = call->input[0];
    ((int32_t *)call->workspace)[piece] = count_selected(input + begin, end - begin, shape->threshold);
}

// `before` this piece so many are selected. Zeros fill the output from its end: one for each that is not.
static void move_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const heddle_select_shape *shape = call->shape;
    const float *input = call->input[0];
    const int32_t *before = call->workspace;
    const bool last = end == (size_t)shape->n;
    const size_t first = (size_t)before[piece];
    const size_t selected = (size_t)(last ? *(int32_t *)call->output[1] : before[piece + 1]) - first;
    float *output = (float *)call->output[0] + first;
    size_t place = 0;
    for (size_t i = begin; place < selected; i++) { // up to the last one selected: what follows is another piece's
        output[place] = input[i];
        place += input[i] > shape->threshold;
    }
    const size_t zeros = end - begin - selected, zeros_before = begin - first;
    memset((float *)call->output[0] + (size_t)shape->n - zeros_before - zeros, 0, zeros * sizeof(float));
}

heddle_status heddle_select_cpu_pieces(const heddle_call *call)
{
    const heddle_select_shape *shape = call->shape;
    const size_t n = (size_t)shape->n;
    int32_t *counts = call->workspace, total = 0;
    heddle_pieces_run(call->pool, n, HEDDLE_PIECE_ELEMENTS, count_piece, (void *)call);
    for (int piece = 0; piece < heddle_piece_count(n, HEDDLE_PIECE_ELEMENTS); piece++) {
        const int32_t selected = counts[piece];
        counts[piece] = total;
        total += selected;
    }
    *(int32_t *)call->output[1] = total;
    heddle_pieces_run(call->pool, n, HEDDLE_PIECE_ELEMENTS, move_piece, (void *)call);
    return HEDDLE_OK;
}
