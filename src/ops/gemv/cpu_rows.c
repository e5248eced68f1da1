// gemv, second rung: rows over the threads, several sums at a time along each. Transposed, a thread has a strip of
// columns and goes down the rows, so that a row's part is read in order and the strip's sums stay in L1.
//
// Limited by: memory bandwidth.

#include "ops/clones.h"
#include "ops/gemv/gemv.h"
#include "ops/lanes.h"
#include "ops/pieces.h"

enum { STRIP = 128 }; // columns per piece

HEDDLE_CLONES static double dot(const float *row, const float *x, size_t count)
{
    return heddle_sum_products_from(row, 0, x, count);
}

static void rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const size_t n = (size_t)((const heddle_gemv_shape *)call->shape)->n;
    for (size_t i = begin; i < end; i++)
        ((float *)call->output[0])[i] = (float)dot((const float *)call->input[0] + i * n, call->input[1], n);
}

HEDDLE_CLONES static void add_row(const float *restrict row, double factor, size_t count, double *restrict sums)
{
    for (size_t j = 0; j < count; j++)
        sums[j] += row[j] * factor;
}

static void columns(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_gemv_shape *shape = call->shape;
    const float *a = call->input[0], *x = call->input[1];
    double sums[STRIP] = {0};
    for (size_t i = 0; i < (size_t)shape->m; i++)
        add_row(a + i * (size_t)shape->n + begin, x[i], end - begin, sums);
    for (size_t j = begin; j < end; j++)
        ((float *)call->output[0])[j] = (float)sums[j - begin];
}

heddle_status heddle_gemv_cpu_rows(const heddle_call *call)
{
    const heddle_gemv_shape *shape = call->shape;
    if (shape->transpose)
        heddle_pieces_run(call->pool, (size_t)shape->n, STRIP, columns, (void *)call);
    else
        heddle_pieces_run(call->pool, (size_t)shape->m, heddle_piece_rows((size_t)shape->n), rows, (void *)call);
    return HEDDLE_OK;
}
