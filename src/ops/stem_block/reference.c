// stem_block in float64. The convolution is computed wherever it is needed and its statistics from its values, not from
// the patches' moments, so that the moments' algebra in the rungs is held against something independent of it.

#include <math.h>
#include <string.h>

#include "ops/stem_block/stem_block.h"

typedef heddle_conv_block_shape block_shape;

// Element `d` = (channel, r, s) of the patch under output pixel (y, x); 0 over the border.
static double patch_element(const block_shape *shape, const double *input, int n, int y, int x, int d)
{
    int c = d / HEDDLE_CONV_BLOCK_TAPS, iy = y + d % HEDDLE_CONV_BLOCK_TAPS / 3 - 1, ix = x + d % 3 - 1;
    if (iy < 0 || iy >= shape->h || ix < 0 || ix >= shape->w)
        return 0;
    return input[heddle_activation_at(shape->input_channels_last, shape->c, shape->h, shape->w, n, c, iy, ix)];
}

static double convolve(const block_shape *shape, const double *const *input, int n, int k, int y, int x)
{
    int patch = heddle_stem_block_patch(shape);
    double sum = 0;
    for (int d = 0; d < patch; d++)
        sum += input[1][(size_t)k * patch + d] * patch_element(shape, input[0], n, y, x, d);
    return sum;
}

static double patch_mean(const block_shape *shape, const double *input, int d)
{
    double sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += patch_element(shape, input, n, y, x, d);
    return sum / heddle_conv_block_pixels(shape);
}

static double patch_covariance(const block_shape *shape, const double *input, const double *mean, int d, int e)
{
    double sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += (patch_element(shape, input, n, y, x, d) - mean[d]) *
                       (patch_element(shape, input, n, y, x, e) - mean[e]);
    return sum / heddle_conv_block_pixels(shape);
}

static void channel_statistics(const block_shape *shape, const double *const *input, int k, double *mean,
                               double *variance)
{
    double pixels = heddle_conv_block_pixels(shape), sum = 0, squares = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += convolve(shape, input, n, k, y, x);
    *mean = sum / pixels;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++) {
                double difference = convolve(shape, input, n, k, y, x) - *mean;
                squares += difference * difference;
            }
    *variance = squares / pixels;
}

void heddle_stem_block_reference_forward(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    int patch = heddle_stem_block_patch(shape);
    const double *bias = input[2], *gamma = input[3], *beta = input[4];
    double *moments = output[1], *running_mean = output[5], *running_var = output[6];
    double pixels = heddle_conv_block_pixels(shape);

    for (int d = 0; d < patch; d++)
        moments[d] = patch_mean(shape, input[0], d);
    for (int d = 0; d < patch; d++)
        for (int e = 0; e < patch; e++)
            moments[(size_t)(d + 1) * patch + e] = patch_covariance(shape, input[0], moments, d, e);

    for (int k = 0; k < shape->k; k++) {
        double mean, variance, momentum = (double)shape->momentum;
        channel_statistics(shape, input, k, &mean, &variance);
        double inverse_std = 1 / sqrt(variance + (double)shape->epsilon);
        output[2][k] = mean;
        output[3][k] = inverse_std;
        if (running_mean)
            running_mean[k] += momentum * (mean + (bias ? bias[k] : 0) - running_mean[k]);
        if (running_var)
            running_var[k] += momentum * (variance * pixels / (pixels - 1) - running_var[k]);

        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h / 2; y++)
                for (int x = 0; x < shape->w / 2; x++) {
                    double maximum = 0;
                    int winner = 0;
                    for (int i = 0; i < 4; i++) {
                        double z = convolve(shape, input, n, k, 2 * y + i / 2, 2 * x + i % 2);
                        double value = gamma[k] * (z - mean) * inverse_std + beta[k];
                        if (i == 0 || value > maximum || isnan(value)) {
                            maximum = value;
                            winner = i;
                        }
                    }
                    output[0][heddle_activation_at(shape->output_channels_last, shape->k, shape->h / 2, shape->w / 2, n,
                                                   k, y, x)] = maximum <= 0 ? 0 : maximum;
                    output[4][heddle_activation_at(1, shape->k, shape->h / 2, shape->w / 2, n, k, y, x)] =
                        maximum <= 0 ? HEDDLE_CONV_BLOCK_NO_WINNER : winner;
                }
    }
}

// The gradient of the normalised value at (y, x): its window's, if it won.
static double grad_normalised(const block_shape *shape, const double *code, const double *grad_output, int n, int k,
                              int y, int x)
{
    int h = shape->h / 2, w = shape->w / 2;
    if (y / 2 >= h || x / 2 >= w ||
        code[heddle_activation_at(1, shape->k, h, w, n, k, y / 2, x / 2)] != (double)(y % 2 * 2 + x % 2))
        return 0;
    return grad_output[heddle_activation_at(shape->output_channels_last, shape->k, h, w, n, k, y / 2, x / 2)];
}

void heddle_stem_block_reference_backward(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    int patch = heddle_stem_block_patch(shape);
    const double *gamma = input[2], *code = input[7], *grad_output = input[8];
    double *grad_weight = output[0], *grad_bias = output[1];
    double pixels = heddle_conv_block_pixels(shape);
    memset(grad_weight, 0, sizeof(double) * shape->k * patch);

    for (int k = 0; k < shape->k; k++) {
        double mean = input[5][k], inverse_std = input[6][k], sum = 0, weighted = 0;
        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++) {
                    double grad = grad_normalised(shape, code, grad_output, n, k, y, x);
                    sum += grad;
                    weighted += grad * (convolve(shape, input, n, k, y, x) - mean) * inverse_std;
                }
        output[2][k] = weighted;
        output[3][k] = sum;
        if (grad_bias)
            grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds

        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++) {
                    double normalised = (convolve(shape, input, n, k, y, x) - mean) * inverse_std;
                    double grad = grad_normalised(shape, code, grad_output, n, k, y, x);
                    grad = gamma[k] * inverse_std * (grad - sum / pixels - normalised * weighted / pixels);
                    for (int d = 0; d < patch; d++)
                        grad_weight[(size_t)k * patch + d] += grad * patch_element(shape, input[0], n, y, x, d);
                }
    }
}
