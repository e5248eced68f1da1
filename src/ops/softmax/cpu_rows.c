// softmax and log_softmax, second rung: rows spread over the threads, vectors along each row.
//
// exp is computed once per element (the naive rung computes it twice); the output holds it until the sum is known.
//
// Limited by: exp's polynomial; for rows of only a few vectors, by their ends.

#include <math.h>

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/rows.h"
#include "ops/softmax/softmax.h"

HEDDLE_CLONES static void softmax_row(const float *restrict x, size_t cols, float *restrict y)
{
    double sum = heddle_row_exp(x, cols, heddle_row_max(x, cols), y);
    float scale = (float)(1.0 / sum);
    for (size_t j = 0; j < cols; j++)
        y[j] *= scale;
}

HEDDLE_CLONES static void log_softmax_row(const float *restrict x, size_t cols, float *restrict y)
{
    float most = heddle_row_max(x, cols);
    float log_sum = (float)log(heddle_row_exp(x, cols, most, y));
    for (size_t j = 0; j < cols; j++)
        y[j] = x[j] - most - log_sum;
}

// grad_input = y * (grad - Σ grad * y)
HEDDLE_CLONES static void softmax_gradient_row(const float *restrict y, const float *restrict grad, size_t cols,
                                               float *restrict grad_input)
{
    float sum = (float)heddle_sum_products_from(grad, 0.0, y, cols);
    for (size_t j = 0; j < cols; j++)
        grad_input[j] = y[j] * (grad[j] - sum);
}

// grad_input = grad - exp(y) * Σ grad
HEDDLE_CLONES static void log_softmax_gradient_row(const float *restrict y, const float *restrict grad, size_t cols,
                                                   float *restrict grad_input)
{
    float sum = (float)heddle_sum(grad, cols);
    for (size_t j = 0; j < cols; j++)
        grad_input[j] = grad[j] - heddle_exp(y[j]) * sum;
}

typedef struct rows_work {
    const heddle_call *call;
    void (*forward)(const float *x, size_t cols, float *y);
    void (*backward)(const float *y, const float *grad, size_t cols, float *grad_input);
} rows_work;

static void forward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const rows_work *work = context;
    const heddle_rows_shape *shape = work->call->shape;
    for (size_t i = begin; i < end; i++)
        work->forward((const float *)work->call->input[0] + i * shape->cols, (size_t)shape->cols,
                      (float *)work->call->output[0] + i * shape->cols);
}

static void backward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const rows_work *work = context;
    const heddle_rows_shape *shape = work->call->shape;
    for (size_t i = begin; i < end; i++) {
        size_t at = i * shape->cols;
        work->backward((const float *)work->call->input[0] + at, (const float *)work->call->input[1] + at,
                       (size_t)shape->cols, (float *)work->call->output[0] + at);
    }
}

static heddle_status run(rows_work work, heddle_piece_task *task)
{
    const heddle_rows_shape *shape = work.call->shape;
    if (shape->cols > 0)
        heddle_pieces_run(work.call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), task, &work);
    return HEDDLE_OK;
}

heddle_status heddle_softmax_forward_cpu_rows(const heddle_call *call)
{
    return run((rows_work){.call = call, .forward = softmax_row}, forward_rows);
}

heddle_status heddle_softmax_backward_cpu_rows(const heddle_call *call)
{
    return run((rows_work){.call = call, .backward = softmax_gradient_row}, backward_rows);
}

heddle_status heddle_log_softmax_forward_cpu_rows(const heddle_call *call)
{
    return run((rows_work){.call = call, .forward = log_softmax_row}, forward_rows);
}

heddle_status heddle_log_softmax_backward_cpu_rows(const heddle_call *call)
{
    return run((rows_work){.call = call, .backward = log_softmax_gradient_row}, backward_rows);
}
