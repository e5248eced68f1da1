// sync_batchnorm2d, first rung: the definition, a channel at a time, one thread.
//
// Limited by: one number at a time. On cpu batchnorm2d's own rungs take their sums over processes themselves
// (ops/across.h) and these are what a GPU's are held against.

#include <math.h>

#include "heddle/ops.h"
#include "ops/sync_batchnorm2d/sync_batchnorm2d.h"

typedef heddle_batchnorm2d_shape norm_shape;

// Start of channel c of image n.
static size_t plane_at(const norm_shape *shape, int n, int c)
{
    return ((size_t)n * shape->c + c) * shape->h * shape->w;
}

heddle_status heddle_sync_batchnorm2d_moments_cpu_naive(const heddle_call *call)
{
    const norm_shape *shape = call->shape;
    const float *input = call->input[0];
    double *moments = call->output[0];
    size_t plane = (size_t)shape->h * shape->w;
    moments[0] = (double)plane * shape->n;
    for (int c = 0; c < shape->c; c++) {
        double sum = 0, squares = 0;
        for (int n = 0; n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                double value = input[plane_at(shape, n, c) + i];
                sum += value;
                squares += value * value;
            }
        moments[1 + 2 * c] = sum;
        moments[2 + 2 * c] = squares;
    }
    return HEDDLE_OK;
}

heddle_status heddle_sync_batchnorm2d_apply_cpu_naive(const heddle_call *call)
{
    const norm_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *beta = call->input[2];
    const double *moments = call->input[3];
    float *output = call->output[0], *saved_mean = call->output[1], *saved_inverse_std = call->output[2];
    float *running_mean = call->output[3], *running_var = call->output[4];
    size_t plane = (size_t)shape->h * shape->w;
    double count = moments[0];
    for (int c = 0; c < shape->c; c++) {
        double mean = moments[1 + 2 * c] / count, variance = fmax(moments[2 + 2 * c] / count - mean * mean, 0);
        double inverse_std = 1 / sqrt(variance + (double)shape->epsilon);
        saved_mean[c] = (float)mean;
        saved_inverse_std[c] = (float)inverse_std;
        if (running_mean)
            running_mean[c] += shape->momentum * ((float)mean - running_mean[c]);
        if (running_var)
            running_var[c] += shape->momentum * ((float)(variance * count / (count - 1)) - running_var[c]);
        for (int n = 0; n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                output[at] = (float)(((double)input[at] - mean) * inverse_std * (double)gamma[c] + (double)beta[c]);
            }
    }
    return HEDDLE_OK;
}

heddle_status heddle_sync_batchnorm2d_sums_cpu_naive(const heddle_call *call)
{
    const norm_shape *shape = call->shape;
    const float *input = call->input[0], *mean = call->input[1], *inverse_std = call->input[2];
    const float *grad_output = call->input[3];
    float *grad_gamma = call->output[0], *grad_beta = call->output[1];
    double *sums = call->output[2];
    size_t plane = (size_t)shape->h * shape->w;
    sums[0] = (double)plane * shape->n;
    for (int c = 0; c < shape->c; c++) {
        double sum = 0, product = 0;
        for (int n = 0; n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                sum += (double)grad_output[at];
                product += (double)grad_output[at] * ((double)input[at] - (double)mean[c]) * (double)inverse_std[c];
            }
        sums[1 + 2 * c] = sum;
        sums[2 + 2 * c] = product;
        grad_beta[c] = (float)sum;
        grad_gamma[c] = (float)product;
    }
    return HEDDLE_OK;
}

heddle_status heddle_sync_batchnorm2d_input_gradient_cpu_naive(const heddle_call *call)
{
    const norm_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *mean = call->input[2];
    const float *inverse_std = call->input[3], *grad_output = call->input[4];
    const double *sums = call->input[5];
    float *grad_input = call->output[0];
    size_t plane = (size_t)shape->h * shape->w;
    for (int c = 0; c < shape->c; c++) {
        float mean_grad = (float)(sums[1 + 2 * c] / sums[0]), mean_product = (float)(sums[2 + 2 * c] / sums[0]);
        for (int n = 0; n < shape->n; n++)
            for (size_t i = 0; i < plane; i++) {
                size_t at = plane_at(shape, n, c) + i;
                float normalised = (input[at] - mean[c]) * inverse_std[c];
                grad_input[at] = gamma[c] * inverse_std[c] * (grad_output[at] - mean_grad - normalised * mean_product);
            }
    }
    return HEDDLE_OK;
}
