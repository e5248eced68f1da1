// layernorm, first rung: one row at a time, one element at a time, one thread.
//
// The mean is computed first and the squares are taken around it, both in double: the shortcut E[x²] - E[x]² would lose
// every digit of the variance if the mean is far from 0.
//
// Limited by: one thread, and sums in which every addition waits for the one before.

#include <math.h>

#include "heddle/ops.h"
#include "ops/layernorm/layernorm.h"

heddle_status heddle_layernorm_forward_cpu_naive(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    const float *gamma = call->input[1], *beta = call->input[2];
    for (int i = 0; i < shape->rows; i++) {
        const float *x = (const float *)call->input[0] + (size_t)i * shape->cols;
        float *y = (float *)call->output[0] + (size_t)i * shape->cols;
        double sum = 0, squares = 0;
        for (int j = 0; j < shape->cols; j++)
            sum += x[j];
        double mean = sum / shape->cols;
        for (int j = 0; j < shape->cols; j++)
            squares += (x[j] - mean) * (x[j] - mean);
        double inverse_std = 1 / sqrt(squares / shape->cols + shape->epsilon);
        for (int j = 0; j < shape->cols; j++)
            y[j] = (float)((x[j] - mean) * inverse_std * gamma[j] + beta[j]);
        ((float *)call->output[1])[i] = (float)mean;
        ((float *)call->output[2])[i] = (float)inverse_std;
    }
    return HEDDLE_OK;
}

// With scaled = grad * gamma and n = (x - mean) / std:
// grad_input = (scaled - mean(scaled) - n * mean(scaled * n)) / std
static void gradient_row(const float *x, const float *gamma, const float *grad, int cols, double mean,
                         double inverse_std, float *grad_input)
{
    double sum = 0, product = 0;
    for (int j = 0; j < cols; j++) {
        sum += (double)grad[j] * gamma[j];
        product += (double)grad[j] * gamma[j] * (x[j] - mean) * inverse_std;
    }
    for (int j = 0; j < cols; j++) {
        double normalised = (x[j] - mean) * inverse_std;
        grad_input[j] =
            (float)(inverse_std * ((double)grad[j] * gamma[j] - sum / cols - normalised * (product / cols)));
    }
}

heddle_status heddle_layernorm_backward_cpu_naive(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = call->shape;
    const float *x = call->input[0], *gamma = call->input[1], *mean = call->input[2], *inverse_std = call->input[3];
    const float *grad = call->input[4];
    float *grad_input = call->output[0], *grad_gamma = call->output[1], *grad_beta = call->output[2];
    size_t cols = (size_t)shape->cols;
    for (size_t i = 0; grad_input && i < (size_t)shape->rows; i++)
        gradient_row(x + i * cols, gamma, grad + i * cols, shape->cols, mean[i], inverse_std[i], grad_input + i * cols);
    for (size_t j = 0; j < cols; j++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < (size_t)shape->rows; i++) {
            sum += grad[i * cols + j];
            product += grad[i * cols + j] * ((double)x[i * cols + j] - mean[i]) * inverse_std[i];
        }
        grad_gamma[j] = (float)product;
        grad_beta[j] = (float)sum;
    }
    return HEDDLE_OK;
}
