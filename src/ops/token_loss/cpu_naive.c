// token_loss, first rung: one row after another, one element at a time.
//
// Limited by: exp, one number at a time.

#include <math.h>

#include "ops/token_loss/token_loss.h"

typedef heddle_token_loss_shape loss_shape;

static double log_sum(const float *x, int cols)
{
    float most = x[0];
    double sum = 0;
    for (int j = 1; j < cols; j++)
        most = x[j] > most ? x[j] : most;
    for (int j = 0; j < cols; j++)
        sum += exp((double)x[j] - most);
    return most + log(sum);
}

static float loss_of(const loss_shape *shape, const float *x, int64_t label, double sum)
{
    return label == (int64_t)shape->ignored ? 0 : (float)(sum - x[label]);
}

static void gradient_row(const loss_shape *shape, const float *x, int64_t label, double sum, float factor, float *grad)
{
    for (int j = 0; j < shape->cols; j++)
        grad[j] = label == (int64_t)shape->ignored ? 0 : (float)((exp(x[j] - sum) - (j == label)) * factor);
}

heddle_status heddle_token_loss_forward_cpu_naive(const heddle_call *call)
{
    const loss_shape *shape = call->shape;
    const int64_t *labels = call->input[1];
    HEDDLE_TRY(heddle_token_loss_check_labels(shape, labels));
    for (int i = 0; i < shape->rows; i++) {
        const float *x = (const float *)call->input[0] + (size_t)i * shape->cols;
        double sum = log_sum(x, shape->cols);
        ((float *)call->output[0])[i] = loss_of(shape, x, labels[i], sum);
        ((float *)call->output[1])[i] = (float)sum;
    }
    return HEDDLE_OK;
}

heddle_status heddle_token_loss_backward_cpu_naive(const heddle_call *call)
{
    const loss_shape *shape = call->shape;
    const int64_t *labels = call->input[1];
    HEDDLE_TRY(heddle_token_loss_check_labels(shape, labels));
    for (int i = 0; i < shape->rows; i++) {
        size_t at = (size_t)i * shape->cols;
        gradient_row(shape, (const float *)call->input[0] + at, labels[i], ((const float *)call->input[2])[i],
                     ((const float *)call->input[3])[i], (float *)call->output[0] + at);
    }
    return HEDDLE_OK;
}

heddle_status heddle_token_loss_both_cpu_naive(const heddle_call *call)
{
    const loss_shape *shape = call->shape;
    const int64_t *labels = call->input[1];
    HEDDLE_TRY(heddle_token_loss_check_labels(shape, labels));
    for (int i = 0; i < shape->rows; i++) {
        const float *x = (const float *)call->input[0] + (size_t)i * shape->cols;
        double sum = log_sum(x, shape->cols);
        ((float *)call->output[0])[i] = loss_of(shape, x, labels[i], sum);
        gradient_row(shape, x, labels[i], sum, *(const float *)call->input[2],
                     (float *)call->output[1] + (size_t)i * shape->cols);
    }
    return HEDDLE_OK;
}
