// cross_entropy, second rung: rows spread over the threads, vectors along each row.
//
// Each piece of rows leaves its loss and its count of correct rows in the workspace; they are added in piece order.
//
// Limited by: exp's polynomial; at ten classes, by the ends of short rows.

#include <math.h>

#include "ops/clones.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/define.h"
#include "ops/pieces.h"
#include "ops/rows.h"

typedef struct partial {
    double loss;
    int64_t correct;
} partial;

static size_t first_equal(const float *x, float value, size_t cols)
{
    size_t j = 0;
    while (j + 1 < cols && x[j] != value)
        j++;
    return j;
}

HEDDLE_CLONES static void loss_row(const float *restrict x, size_t cols, size_t label, float *restrict probabilities,
                                   partial *sums)
{
    float most = heddle_row_max(x, cols);
    double sum = heddle_row_exp(x, cols, most, probabilities);
    float scale = (float)(1.0 / sum);
    for (size_t j = 0; j < cols; j++)
        probabilities[j] *= scale;
    sums->loss += log(sum) + ((double)most - x[label]);
    sums->correct += first_equal(x, most, cols) == label;
}

static void forward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const heddle_rows_shape *shape = call->shape;
    const int32_t *labels = call->input[1];
    partial sum = {0};
    for (size_t i = begin; i < end; i++)
        loss_row((const float *)call->input[0] + i * shape->cols, (size_t)shape->cols, (size_t)labels[i],
                 (float *)call->output[1] + i * shape->cols, &sum);
    ((partial *)call->workspace)[piece] = sum;
}

heddle_status heddle_cross_entropy_forward_cpu_rows(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    HEDDLE_TRY(heddle_cross_entropy_check_labels(shape, call->input[1]));
    size_t grain = heddle_piece_rows((size_t)shape->cols);
    heddle_pieces_run(call->pool, (size_t)shape->rows, grain, forward_rows, (void *)call);

    partial total = {0};
    const partial *partials = call->workspace;
    for (int piece = 0; piece < heddle_piece_count((size_t)shape->rows, grain); piece++) {
        total.loss += partials[piece].loss;
        total.correct += partials[piece].correct;
    }
    *(float *)call->output[0] = (float)(total.loss / shape->rows);
    *(int32_t *)call->output[2] = (int32_t)total.correct;
    return HEDDLE_OK;
}

HEDDLE_SHARED_WORKSPACE(heddle_cross_entropy_forward_cpu_rows_workspace, heddle_rows_shape,
                        (size_t)heddle_piece_count((size_t)shape->rows, heddle_piece_rows((size_t)shape->cols)) *
                            sizeof(partial))

HEDDLE_CLONES static void gradient_row(const float *restrict probabilities, size_t cols, size_t label, float scale,
                                       float *restrict grad)
{
    for (size_t j = 0; j < cols; j++)
        grad[j] = probabilities[j] * scale;
    grad[label] = (probabilities[label] - 1.0f) * scale;
}

static void backward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_rows_shape *shape = call->shape;
    const int32_t *labels = call->input[1];
    float scale = *(const float *)call->input[2] / (float)shape->rows;
    for (size_t i = begin; i < end; i++)
        gradient_row((const float *)call->input[0] + i * shape->cols, (size_t)shape->cols, (size_t)labels[i], scale,
                     (float *)call->output[0] + i * shape->cols);
}

heddle_status heddle_cross_entropy_backward_cpu_rows(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    HEDDLE_TRY(heddle_cross_entropy_check_labels(shape, call->input[1]));
    heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), backward_rows,
                      (void *)call);
    return HEDDLE_OK;
}
