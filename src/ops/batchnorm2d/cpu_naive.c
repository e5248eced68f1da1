// batchnorm2d, first rung: the definition, one channel at a time, one thread.
//
// The mean is computed first and the squares are taken around it: the shortcut E[x²] - E[x]² would lose every digit of
// the variance if the mean is far from 0.
//
// Limited by: one number at a time. cpu_channels does the same with vectors, channels spread over the threads.

#include <math.h>

#include "heddle/ops.h"
#include "ops/across.h"
#include "ops/batchnorm2d/batchnorm2d.h"

// Start of channel c of image n.
static size_t plane_at(const heddle_batchnorm2d_shape *shape, int n, int c)
{
    return ((size_t)n * shape->c + c) * shape->h * shape->w;
}

static void statistics(const heddle_batchnorm2d_shape *shape, const float *input, int c, double *mean, double *squares)
{
    size_t plane = (size_t)shape->h * shape->w;
    double sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (size_t i = 0; i < plane; i++)
            sum += input[plane_at(shape, n, c) + i];
    *mean = sum / ((double)plane * shape->n);
    *squares = 0;
    for (int n = 0; n < shape->n; n++)
        for (size_t i = 0; i < plane; i++) {
            double difference = input[plane_at(shape, n, c) + i] - *mean;
            *squares += difference * difference;
        }
}

heddle_status heddle_batchnorm2d_forward_cpu_naive(const heddle_call *call)
{
    if (heddle_across_several(call)) // cpu_channels handles sums over processes
        return heddle_batchnorm2d_forward_cpu_channels(call);
    const heddle_batchnorm2d_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *beta = call->input[2];
    float *output = call->output[0], *saved_mean = call->output[1], *saved_inverse_std = call->output[2];
    float *running_mean = call->output[3], *running_var = call->output[4];
    size_t plane = (size_t)shape->h * shape->w;
    double count = (double)plane * shape->n;
    for (int c = 0; c < shape->c; c++) {
        double mean, squares;
        statistics(shape, input, c, &mean, &squares);
        saved_mean[c] = (float)mean;
        saved_inverse_std[c] = (float)(1.0 / sqrt(squares / count + shape->epsilon));
        if (running_mean)
            running_mean[c] += shape->momentum * ((float)mean - running_mean[c]);
        if (running_var)
            running_var[c] += shape->momentum * ((float)(squares / (count - 1)) - running_var[c]);
        for (int n = 0; n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                output[at] = (float)((input[at] - mean) * saved_inverse_std[c] * gamma[c] + beta[c]);
            }
    }
    return HEDDLE_OK;
}

// grad_input = gamma / std * (grad - mean(grad) - normalised * mean(grad * normalised))
heddle_status heddle_batchnorm2d_backward_cpu_naive(const heddle_call *call)
{
    if (heddle_across_several(call))
        return heddle_batchnorm2d_backward_cpu_channels(call);
    const heddle_batchnorm2d_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *mean = call->input[2];
    const float *inverse_std = call->input[3], *grad_output = call->input[4];
    float *grad_input = call->output[0], *grad_gamma = call->output[1], *grad_beta = call->output[2];
    size_t plane = (size_t)shape->h * shape->w;
    double count = (double)plane * shape->n;
    for (int c = 0; c < shape->c; c++) {
        double sum = 0, product = 0;
        for (int n = 0; n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                sum += grad_output[at];
                product += grad_output[at] * ((input[at] - mean[c]) * inverse_std[c]);
            }
        grad_gamma[c] = (float)product;
        grad_beta[c] = (float)sum;
        float mean_grad = (float)(sum / count), mean_product = (float)(product / count);
        for (int n = 0; grad_input && n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                float normalised = (input[at] - mean[c]) * inverse_std[c];
                grad_input[at] = gamma[c] * inverse_std[c] * (grad_output[at] - mean_grad - normalised * mean_product);
            }
    }
    return HEDDLE_OK;
}

heddle_status heddle_batchnorm2d_inference_cpu_naive(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *beta = call->input[2];
    const float *running_mean = call->input[3], *running_var = call->input[4];
    float *output = call->output[0];
    size_t plane = (size_t)shape->h * shape->w;
    for (int n = 0; n < shape->n; n++)
        for (int c = 0; c < shape->c; c++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                float normalised = (input[at] - running_mean[c]) / sqrtf(running_var[c] + shape->epsilon);
                output[at] = normalised * gamma[c] + beta[c];
            }
    return HEDDLE_OK;
}
