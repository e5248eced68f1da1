// token_loss, second rung: rows spread over the threads, vectors along each row.
//
// Forward adds what it would have to store; a row's numbers pass through a small buffer that stays in the first cache.
//
// Limited by: exp's polynomial.

#include <math.h>

#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/rows.h"
#include "ops/token_loss/token_loss.h"

typedef heddle_token_loss_shape loss_shape;

enum { BUFFER = 1024 }; // floats

HEDDLE_CLONES static double exp_sum(const float *restrict x, size_t cols, float most)
{
    float buffer[BUFFER];
    double sum = 0;
    for (size_t first = 0; first < cols; first += BUFFER)
        sum += heddle_row_exp(x + first, cols - first < BUFFER ? cols - first : BUFFER, most, buffer);
    return sum;
}

// grad = exp(x - most) * scale; where that is the whole row's, the probabilities times the factor.
HEDDLE_CLONES static void exp_scaled(const float *restrict x, size_t cols, float most, float scale,
                                     float *restrict grad)
{
    for (size_t j = 0; j < cols; j++)
        grad[j] = heddle_exp(x[j] - most) * scale;
}

HEDDLE_CLONES static float row_most(const float *x, size_t cols)
{
    return heddle_row_max(x, cols);
}

static void fill_zero(float *grad, size_t cols)
{
    for (size_t j = 0; j < cols; j++)
        grad[j] = 0;
}

static void forward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const loss_shape *shape = call->shape;
    const int64_t *labels = call->input[1];
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)call->input[0] + i * (size_t)shape->cols;
        float most = row_most(x, (size_t)shape->cols);
        double log_sum = log(exp_sum(x, (size_t)shape->cols, most));
        ((float *)call->output[0])[i] =
            labels[i] == (int64_t)shape->ignored ? 0 : (float)(log_sum + ((double)most - x[labels[i]]));
        ((float *)call->output[1])[i] = (float)(log_sum + most);
    }
}

static void backward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const loss_shape *shape = call->shape;
    const int64_t *labels = call->input[1];
    const size_t cols = (size_t)shape->cols;
    for (size_t i = begin; i < end; i++) {
        float *grad = (float *)call->output[0] + i * cols, factor = ((const float *)call->input[3])[i];
        if (labels[i] == (int64_t)shape->ignored) {
            fill_zero(grad, cols);
            continue;
        }
        exp_scaled((const float *)call->input[0] + i * cols, cols, ((const float *)call->input[2])[i], factor, grad);
        grad[labels[i]] -= factor;
    }
}

static void both_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const loss_shape *shape = call->shape;
    const int64_t *labels = call->input[1];
    const size_t cols = (size_t)shape->cols;
    const float factor = *(const float *)call->input[2];
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)call->input[0] + i * cols;
        float *loss = (float *)call->output[0] + i, *grad = (float *)call->output[1] + i * cols;
        if (labels[i] == (int64_t)shape->ignored) {
            *loss = 0;
            fill_zero(grad, cols);
            continue;
        }
        float most = row_most(x, cols);
        double sum = exp_sum(x, cols, most);
        *loss = (float)(log(sum) + ((double)most - x[labels[i]]));
        exp_scaled(x, cols, most, (float)(factor / sum), grad);
        grad[labels[i]] -= factor;
    }
}

static heddle_status run(const heddle_call *call, heddle_piece_task *task)
{
    const loss_shape *shape = call->shape;
    HEDDLE_TRY(heddle_token_loss_check_labels(shape, call->input[1]));
    heddle_pieces_run(call->pool, (size_t)shape->rows, heddle_piece_rows((size_t)shape->cols), task, (void *)call);
    return HEDDLE_OK;
}

heddle_status heddle_token_loss_forward_cpu_rows(const heddle_call *call)
{
    return run(call, forward_rows);
}

heddle_status heddle_token_loss_backward_cpu_rows(const heddle_call *call)
{
    return run(call, backward_rows);
}

heddle_status heddle_token_loss_both_cpu_rows(const heddle_call *call)
{
    return run(call, both_rows);
}
