// topk, second rung: rows over the threads, one pass over each. The best so far stay sorted; an element is sorted in if
// it beats the last of them, which in a long row few do.
//
// Limited by: one comparison per element that the next one may depend on, and by memory bandwidth.

#include "ops/pieces.h"
#include "ops/topk/topk.h"

// Elements come in the order of their indices, so an equal one goes behind. NaN is above all numbers.
static bool is_above(float a, float b)
{
    return a > b || (a != a && b == b);
}

static void select_row(const float *row, int cols, int k, float *values, int32_t *indices)
{
    int count = 0;
    for (int j = 0; j < cols; j++) {
        if (count == k && !is_above(row[j], values[k - 1]))
            continue;
        int place = count < k ? count++ : k - 1;
        for (; place > 0 && is_above(row[j], values[place - 1]); place--) {
            values[place] = values[place - 1];
            indices[place] = indices[place - 1];
        }
        values[place] = row[j];
        indices[place] = j;
    }
}

static void select_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_topk_shape *shape = call->shape;
    const size_t k = (size_t)shape->k;
    for (size_t r = begin; r < end; r++)
        select_row((const float *)call->input[0] + r * (size_t)shape->cols, shape->cols, shape->k,
                   (float *)call->output[0] + r * k, (int32_t *)call->output[1] + r * k);
}

heddle_status heddle_topk_cpu_threshold(const heddle_call *call)
{
    const heddle_topk_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), select_rows,
                      (void *)call);
    return HEDDLE_OK;
}
