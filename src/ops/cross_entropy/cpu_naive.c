// cross_entropy, first rung: one row at a time, one element at a time, one thread.
//
// Limited by: one call of exp per element. cpu_rows computes exp on vectors and spreads the rows over the threads.

#include <math.h>

#include "ops/cross_entropy/cross_entropy.h"

static int first_largest(const float *x, int cols)
{
    int best = 0;
    for (int j = 1; j < cols; j++)
        if (x[j] > x[best])
            best = j;
    return best;
}

heddle_status heddle_cross_entropy_forward_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    const float *x = call->input[0];
    const int32_t *labels = call->input[1];
    float *loss = call->output[0], *probabilities = call->output[1];
    int32_t *correct = call->output[2];
    HEDDLE_TRY(heddle_cross_entropy_check_labels(shape, labels));
    double total = 0;
    *correct = 0;
    for (int i = 0; i < shape->rows; i++, x += shape->cols, probabilities += shape->cols) {
        int best = first_largest(x, shape->cols);
        float sum = expf(x[0] - x[best]);
        for (int j = 1; j < shape->cols; j++)
            sum += expf(x[j] - x[best]);
        for (int j = 0; j < shape->cols; j++)
            probabilities[j] = expf(x[j] - x[best]) / sum;
        total += logf(sum) + x[best] - x[labels[i]];
        *correct += best == labels[i];
    }
    *loss = (float)(total / shape->rows);
    return HEDDLE_OK;
}

heddle_status heddle_cross_entropy_backward_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    const float *probabilities = call->input[0], *grad_loss = call->input[2];
    const int32_t *labels = call->input[1];
    float *grad_logits = call->output[0];
    HEDDLE_TRY(heddle_cross_entropy_check_labels(shape, labels));
    for (int i = 0; i < shape->rows; i++)
        for (int j = 0; j < shape->cols; j++)
            *grad_logits++ = (*probabilities++ - (j == labels[i] ? 1.0f : 0.0f)) * (*grad_loss / (float)shape->rows);
    return HEDDLE_OK;
}
