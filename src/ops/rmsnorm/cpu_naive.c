// rmsnorm, first rung: one row at a time, one element at a time, one thread. Sums are in double.
//
// Limited by: one thread, and sums in which every addition waits for the one before.

#include <math.h>

#include "heddle/ops.h"
#include "ops/rmsnorm/rmsnorm.h"

heddle_status heddle_rmsnorm_forward_cpu_naive(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    const float *weight = call->input[1];
    for (int i = 0; i < shape->rows; i++) {
        const float *x = (const float *)call->input[0] + (size_t)i * shape->cols;
        float *y = (float *)call->output[0] + (size_t)i * shape->cols;
        double squares = 0;
        for (int j = 0; j < shape->cols; j++)
            squares += (double)x[j] * x[j];
        double inverse_rms = 1 / sqrt(squares / shape->cols + shape->epsilon);
        for (int j = 0; j < shape->cols; j++)
            y[j] = (float)(x[j] * inverse_rms * weight[j]);
        ((float *)call->output[1])[i] = (float)inverse_rms;
    }
    return HEDDLE_OK;
}

// With scaled = grad * weight and n = x / rms: grad_input = (scaled - n * mean(scaled * n)) / rms
static void gradient_row(const float *x, const float *weight, const float *grad, int cols, double inverse_rms,
                         float *grad_input)
{
    double product = 0;
    for (int j = 0; j < cols; j++)
        product += (double)grad[j] * weight[j] * x[j] * inverse_rms;
    for (int j = 0; j < cols; j++)
        grad_input[j] = (float)(inverse_rms * ((double)grad[j] * weight[j] - x[j] * inverse_rms * (product / cols)));
}

heddle_status heddle_rmsnorm_backward_cpu_naive(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    const float *x = call->input[0], *weight = call->input[1], *inverse_rms = call->input[2], *grad = call->input[3];
    float *grad_input = call->output[0], *grad_weight = call->output[1];
    size_t cols = (size_t)shape->cols;
    for (size_t i = 0; grad_input && i < (size_t)shape->rows; i++)
        gradient_row(x + i * cols, weight, grad + i * cols, shape->cols, inverse_rms[i], grad_input + i * cols);
    for (size_t j = 0; j < cols; j++) {
        double sum = 0;
        for (size_t i = 0; i < (size_t)shape->rows; i++)
            sum += (double)grad[i * cols + j] * x[i * cols + j] * inverse_rms[i];
        grad_weight[j] = (float)sum;
    }
    return HEDDLE_OK;
}
