// stem_block in its simplest form: the convolution is computed again for every use, its statistics from its values, one
// thread. The patches' moments are saved only because the other rungs' backward needs them.

#include "ops/conv_block/cpu_naive.h"
#include "ops/stem_block/stem_block.h"

// Element `d` = (channel, r, s) of the patch under output pixel (y, x); 0 over the border.
static float patch_element(const block_shape *shape, const float *input, int n, int y, int x, int d)
{
    int c = d / HEDDLE_CONV_BLOCK_TAPS, iy = y + d % HEDDLE_CONV_BLOCK_TAPS / 3 - 1, ix = x + d % 3 - 1;
    return iy < 0 || iy >= shape->h || ix < 0 || ix >= shape->w ? 0 : input[input_at(shape, n, c, iy, ix)];
}

static float convolve(const block_shape *shape, const float *input, const float *weight, int n, int k, int y, int x)
{
    int patch = heddle_stem_block_patch(shape);
    float sum = 0;
    for (int d = 0; d < patch; d++)
        sum += weight[(size_t)k * patch + d] * patch_element(shape, input, n, y, x, d);
    return sum;
}

static void patch_moments(const block_shape *shape, const float *input, double *moments)
{
    int patch = heddle_stem_block_patch(shape);
    double pixels = heddle_conv_block_pixels(shape);
    for (int d = 0; d < patch; d++) {
        double sum = 0;
        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++)
                    sum += (double)patch_element(shape, input, n, y, x, d);
        moments[d] = sum / pixels;
    }
    for (int d = 0; d < patch; d++)
        for (int e = 0; e <= d; e++) {
            double sum = 0;
            for (int n = 0; n < shape->n; n++)
                for (int y = 0; y < shape->h; y++)
                    for (int x = 0; x < shape->w; x++)
                        sum += ((double)patch_element(shape, input, n, y, x, d) - moments[d]) *
                               ((double)patch_element(shape, input, n, y, x, e) - moments[e]);
            moments[(d + 1) * patch + e] = moments[(e + 1) * patch + d] = sum / pixels;
        }
}

static void channel_statistics(const block_shape *shape, const float *input, const float *weight, int k, double *mean,
                               double *variance)
{
    double pixels = heddle_conv_block_pixels(shape), sum = 0, squares = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += (double)convolve(shape, input, weight, n, k, y, x);
    *mean = sum / pixels;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++) {
                double difference = (double)convolve(shape, input, weight, n, k, y, x) - *mean;
                squares += difference * difference;
            }
    *variance = squares / pixels;
}

static void normalise_and_pool(const block_shape *shape, const heddle_conv_block_forward_operands *operands, int k)
{
    float scale = operands->gamma[k] * operands->inverse_std[k];
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h / 2; y++)
            for (int x = 0; x < shape->w / 2; x++) {
                float window[4];
                for (int i = 0; i < 4; i++) {
                    float z = convolve(shape, operands->input, operands->weight, n, k, 2 * y + i / 2, 2 * x + i % 2);
                    window[i] = (z - operands->mean[k]) * scale + operands->beta[k];
                }
                operands->output[output_at(shape, n, k, y, x)] =
                    heddle_conv_block_relu_of_maximum(window, &operands->code[code_at(shape, n, k, y, x)]);
            }
}

heddle_status heddle_stem_block_cpu_naive_forward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_forward_operands operands = heddle_stem_block_forward_unpack(call);
    patch_moments(shape, operands.input, operands.moments);
    for (int k = 0; k < shape->k; k++) {
        double mean, variance;
        channel_statistics(shape, operands.input, operands.weight, k, &mean, &variance);
        heddle_conv_block_keep_statistics(shape, &operands, k, mean, variance);
        normalise_and_pool(shape, &operands, k);
    }
    return HEDDLE_OK;
}

// --- backward -------------------------------------------------------------------------------------------------------

// The gradient of the normalised value at (y, x): its window's, if it won.
static float grad_normalised(const block_shape *shape, const heddle_conv_block_backward_operands *operands, int n,
                             int k, int y, int x)
{
    if (y / 2 >= shape->h / 2 || x / 2 >= shape->w / 2 ||
        operands->code[code_at(shape, n, k, y / 2, x / 2)] != y % 2 * 2 + x % 2)
        return 0;
    return operands->grad_output[output_at(shape, n, k, y / 2, x / 2)];
}

// Sums over the batch of the gradient, and of the gradient times the normalised value.
static void gradient_sums(const block_shape *shape, const heddle_conv_block_backward_operands *operands, int k,
                          double *sum, double *weighted)
{
    *sum = *weighted = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++) {
                float grad = grad_normalised(shape, operands, n, k, y, x);
                float z = convolve(shape, operands->input, operands->weight, n, k, y, x);
                *sum += (double)grad;
                *weighted += (double)grad * (double)((z - operands->mean[k]) * operands->inverse_std[k]);
            }
}

heddle_status heddle_stem_block_cpu_naive_backward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_backward_operands operands = heddle_stem_block_backward_unpack(call);
    int patch = heddle_stem_block_patch(shape);
    double pixels = heddle_conv_block_pixels(shape);

    for (int k = 0; k < shape->k; k++) {
        double sum, weighted;
        gradient_sums(shape, &operands, k, &sum, &weighted);
        operands.grad_gamma[k] = (float)weighted;
        operands.grad_beta[k] = (float)sum;
        if (operands.grad_bias)
            operands.grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds

        float *grad_weight = operands.grad_weight + (size_t)k * patch;
        for (int d = 0; d < patch; d++)
            grad_weight[d] = 0;
        float inverse_std = operands.inverse_std[k], scale = operands.gamma[k] * inverse_std;
        float mean_grad = (float)(sum / pixels), mean_weighted = (float)(weighted / pixels);
        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++) {
                    float z = convolve(shape, operands.input, operands.weight, n, k, y, x);
                    float grad = grad_normalised(shape, &operands, n, k, y, x);
                    grad = scale * (grad - mean_grad - (z - operands.mean[k]) * inverse_std * mean_weighted);
                    for (int d = 0; d < patch; d++)
                        grad_weight[d] += grad * patch_element(shape, operands.input, n, y, x, d);
                }
    }
    return HEDDLE_OK;
}
