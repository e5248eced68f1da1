// conv_block in its simplest form: one layer after another, plain loops, one thread. It does not use that four
// multiplications fit in a vector, that neighbouring outputs share their inputs, or that other cores are idle.

#include <math.h>
#include <string.h>

#include "ops/conv_block/cpu_naive.h"
#include "ops/define.h"

static float convolve(const block_shape *shape, const float *input, const float *weight, int n, int k, int y, int x)
{
    float sum = 0;
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int iy = y + r - 1, ix = x + s - 1;
                if (iy >= 0 && iy < shape->h && ix >= 0 && ix < shape->w)
                    sum += weight[weight_at(shape, k, c, r, s)] * input[input_at(shape, n, c, iy, ix)];
            }
    return sum;
}

// Means and variances are summed in double: a float sum over a batch would lose the small differences.
static void channel_statistics(const block_shape *shape, const float *convolution, int k, double *mean,
                               double *variance)
{
    size_t pixels = (size_t)shape->n * shape->h * shape->w;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < pixels; i++)
        sum += (double)convolution[i * shape->k + k];
    *mean = sum / (double)pixels;
    for (size_t i = 0; i < pixels; i++) {
        double difference = (double)convolution[i * shape->k + k] - *mean;
        squares += difference * difference;
    }
    *variance = squares / (double)pixels;
}

void heddle_conv_block_keep_statistics(const block_shape *shape, const heddle_conv_block_forward_operands *operands,
                                       int k, double mean, double variance)
{
    double pixels = heddle_conv_block_pixels(shape);
    float bias = operands->bias ? operands->bias[k] : 0;
    operands->mean[k] = (float)mean;
    operands->inverse_std[k] = (float)(1 / sqrt(variance + (double)shape->epsilon));
    if (operands->running_mean)
        operands->running_mean[k] += shape->momentum * ((float)mean + bias - operands->running_mean[k]);
    if (operands->running_var)
        operands->running_var[k] +=
            shape->momentum * ((float)(variance * pixels / (pixels - 1)) - operands->running_var[k]);
}

// The comparisons preserve NaN.
float heddle_conv_block_relu_of_maximum(const float window[4], uint8_t *code)
{
    int winner = 0;
    for (int i = 1; i < 4; i++)
        if (window[i] > window[winner] || isnan(window[i]))
            winner = i;
    bool passes = !(window[winner] <= 0);
    if (code)
        *code = (uint8_t)(passes ? winner : HEDDLE_CONV_BLOCK_NO_WINNER);
    return passes ? window[winner] : 0;
}

static void normalise_and_pool(const block_shape *shape, const heddle_conv_block_forward_operands *operands, int k)
{
    float scale = operands->gamma[k] * operands->inverse_std[k];
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h / 2; y++)
            for (int x = 0; x < shape->w / 2; x++) {
                float window[4];
                for (int i = 0; i < 4; i++) {
                    float z = operands->convolution[convolution_at(shape, n, k, 2 * y + i / 2, 2 * x + i % 2)];
                    window[i] = (z - operands->mean[k]) * scale + operands->beta[k];
                }
                operands->output[output_at(shape, n, k, y, x)] =
                    heddle_conv_block_relu_of_maximum(window, &operands->code[code_at(shape, n, k, y, x)]);
            }
}

heddle_status heddle_conv_block_cpu_naive_forward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_forward_operands operands = heddle_conv_block_forward_unpack(call);

    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                for (int k = 0; k < shape->k; k++)
                    operands.convolution[convolution_at(shape, n, k, y, x)] =
                        convolve(shape, operands.input, operands.weight, n, k, y, x);

    for (int k = 0; k < shape->k; k++) {
        double mean, variance;
        channel_statistics(shape, operands.convolution, k, &mean, &variance);
        heddle_conv_block_keep_statistics(shape, &operands, k, mean, variance);
        normalise_and_pool(shape, &operands, k);
    }
    return HEDDLE_OK;
}

heddle_status heddle_conv_block_cpu_naive_inference(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_inference_operands operands = heddle_conv_block_inference_unpack(call);
    for (int n = 0; n < shape->n; n++)
        for (int k = 0; k < shape->k; k++) {
            float scale = operands.gamma[k] / sqrtf(operands.running_var[k] + shape->epsilon);
            float centre = operands.running_mean[k] - (operands.bias ? operands.bias[k] : 0);
            for (int y = 0; y < shape->h / 2; y++)
                for (int x = 0; x < shape->w / 2; x++) {
                    float window[4];
                    for (int i = 0; i < 4; i++) {
                        float z = convolve(shape, operands.input, operands.weight, n, k, 2 * y + i / 2, 2 * x + i % 2);
                        window[i] = (z - centre) * scale + operands.beta[k];
                    }
                    operands.output[output_at(shape, n, k, y, x)] = heddle_conv_block_relu_of_maximum(window, NULL);
                }
        }
    return HEDDLE_OK;
}

// --- backward -------------------------------------------------------------------------------------------------------

// The gradient of the convolution, (n, h, w, k).
HEDDLE_SHARED_WORKSPACE(heddle_conv_block_cpu_naive_backward_workspace, block_shape,
                        sizeof(float) * shape->n * shape->h * shape->w * shape->k)

// The gradient through pooling and relu: the winner of a window gets the window's gradient, all others none.
static void unpool(const block_shape *shape, const heddle_conv_block_backward_operands *operands, float *grad)
{
    memset(grad, 0, heddle_conv_block_cpu_naive_backward_workspace(shape, 1));
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h / 2; y++)
            for (int x = 0; x < shape->w / 2; x++)
                for (int k = 0; k < shape->k; k++) {
                    int code = operands->code[code_at(shape, n, k, y, x)];
                    if (code != HEDDLE_CONV_BLOCK_NO_WINNER)
                        grad[convolution_at(shape, n, k, 2 * y + code / 2, 2 * x + code % 2)] =
                            operands->grad_output[output_at(shape, n, k, y, x)];
                }
}

// The gradient through batchnorm for channel k, in place.
static void unnormalise(const block_shape *shape, const heddle_conv_block_backward_operands *operands, float *grad,
                        int k)
{
    size_t pixels = (size_t)shape->n * shape->h * shape->w;
    float mean = operands->mean[k], inverse_std = operands->inverse_std[k];
    double sum = 0, weighted = 0;
    for (size_t i = 0; i < pixels; i++) {
        float normalised = (operands->convolution[i * shape->k + k] - mean) * inverse_std;
        sum += (double)grad[i * shape->k + k];
        weighted += (double)grad[i * shape->k + k] * (double)normalised;
    }
    operands->grad_beta[k] = (float)sum;
    operands->grad_gamma[k] = (float)weighted;
    if (operands->grad_bias)
        operands->grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds

    float scale = operands->gamma[k] * inverse_std;
    float mean_grad = (float)(sum / (double)pixels), mean_weighted = (float)(weighted / (double)pixels);
    for (size_t i = 0; i < pixels; i++) {
        float normalised = (operands->convolution[i * shape->k + k] - mean) * inverse_std;
        grad[i * shape->k + k] = scale * (grad[i * shape->k + k] - mean_grad - normalised * mean_weighted);
    }
}

static float weight_gradient(const block_shape *shape, const float *input, const float *grad, int k, int c, int r,
                             int s)
{
    float sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++) {
                int iy = y + r - 1, ix = x + s - 1;
                if (iy >= 0 && iy < shape->h && ix >= 0 && ix < shape->w)
                    sum += grad[convolution_at(shape, n, k, y, x)] * input[input_at(shape, n, c, iy, ix)];
            }
    return sum;
}

static float input_gradient(const block_shape *shape, const float *weight, const float *grad, int n, int c, int y,
                            int x)
{
    float sum = 0;
    for (int k = 0; k < shape->k; k++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int oy = y + 1 - r, ox = x + 1 - s;
                if (oy >= 0 && oy < shape->h && ox >= 0 && ox < shape->w)
                    sum += grad[convolution_at(shape, n, k, oy, ox)] * weight[weight_at(shape, k, c, r, s)];
            }
    return sum;
}

heddle_status heddle_conv_block_cpu_naive_backward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_backward_operands operands = heddle_conv_block_backward_unpack(call);
    float *grad = call->workspace;

    unpool(shape, &operands, grad);
    for (int k = 0; k < shape->k; k++)
        unnormalise(shape, &operands, grad, k);

    for (int k = 0; k < shape->k; k++)
        for (int c = 0; c < shape->c; c++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    operands.grad_weight[weight_at(shape, k, c, r, s)] =
                        weight_gradient(shape, operands.input, grad, k, c, r, s);
    if (!operands.grad_input)
        return HEDDLE_OK;
    for (int n = 0; n < shape->n; n++)
        for (int c = 0; c < shape->c; c++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++)
                    operands.grad_input[input_at(shape, n, c, y, x)] =
                        input_gradient(shape, operands.weight, grad, n, c, y, x);
    return HEDDLE_OK;
}
