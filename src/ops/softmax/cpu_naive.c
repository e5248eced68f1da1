// softmax and log_softmax, first rung: one row at a time, one element at a time, one thread.
//
// The row's largest value is subtracted before exp, so that nothing overflows.
//
// Limited by: one call of exp per element. cpu_rows computes exp on vectors and spreads the rows over the threads.

#include <math.h>

#include "heddle/ops.h"
#include "ops/softmax/softmax.h"

static float row_max(const float *x, int cols)
{
    float most = x[0];
    for (int j = 1; j < cols; j++)
        most = x[j] > most ? x[j] : most;
    return most;
}

static float exp_sum(const float *x, int cols, float most)
{
    float sum = 0;
    for (int j = 0; j < cols; j++)
        sum += expf(x[j] - most);
    return sum;
}

heddle_status heddle_softmax_forward_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    for (int i = 0; i < shape->rows && shape->cols > 0; i++) {
        const float *x = (const float *)call->input[0] + (size_t)i * shape->cols;
        float *y = (float *)call->output[0] + (size_t)i * shape->cols;
        float most = row_max(x, shape->cols), sum = exp_sum(x, shape->cols, most);
        for (int j = 0; j < shape->cols; j++)
            y[j] = expf(x[j] - most) / sum;
    }
    return HEDDLE_OK;
}

heddle_status heddle_log_softmax_forward_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    for (int i = 0; i < shape->rows && shape->cols > 0; i++) {
        const float *x = (const float *)call->input[0] + (size_t)i * shape->cols;
        float *y = (float *)call->output[0] + (size_t)i * shape->cols;
        float most = row_max(x, shape->cols), log_sum = logf(exp_sum(x, shape->cols, most));
        for (int j = 0; j < shape->cols; j++)
            y[j] = x[j] - most - log_sum;
    }
    return HEDDLE_OK;
}

// grad_input = y * (grad - Σ grad * y)
heddle_status heddle_softmax_backward_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    for (int i = 0; i < shape->rows; i++) {
        const float *y = (const float *)call->input[0] + (size_t)i * shape->cols;
        const float *grad = (const float *)call->input[1] + (size_t)i * shape->cols;
        float *grad_input = (float *)call->output[0] + (size_t)i * shape->cols;
        float sum = 0;
        for (int j = 0; j < shape->cols; j++)
            sum += grad[j] * y[j];
        for (int j = 0; j < shape->cols; j++)
            grad_input[j] = y[j] * (grad[j] - sum);
    }
    return HEDDLE_OK;
}

// grad_input = grad - exp(y) * Σ grad
heddle_status heddle_log_softmax_backward_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    for (int i = 0; i < shape->rows; i++) {
        const float *y = (const float *)call->input[0] + (size_t)i * shape->cols;
        const float *grad = (const float *)call->input[1] + (size_t)i * shape->cols;
        float *grad_input = (float *)call->output[0] + (size_t)i * shape->cols;
        float sum = 0;
        for (int j = 0; j < shape->cols; j++)
            sum += grad[j];
        for (int j = 0; j < shape->cols; j++)
            grad_input[j] = grad[j] - expf(y[j]) * sum;
    }
    return HEDDLE_OK;
}
