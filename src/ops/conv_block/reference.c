// conv_block in float64: the textbook formulas, one loop each. Rungs are compared with this, so it shares nothing with
// them, not even where elements lie.

#include <math.h>

#include "ops/conv_block/conv_block.h"

typedef heddle_conv_block_shape block_shape;

static size_t channels_first(int channels, int height, int width, int n, int c, int y, int x)
{
    const size_t plane = (size_t)height * width;
    return ((size_t)n * channels + c) * plane + (size_t)y * width + x;
}

static size_t channels_last(int channels, int height, int width, int n, int c, int y, int x)
{
    const size_t pixel = (size_t)y * width + x, pixels = (size_t)height * width;
    return (n * pixels + pixel) * channels + c;
}

static size_t input_at(const block_shape *shape, int n, int c, int y, int x)
{
    return (shape->input_channels_last ? channels_last : channels_first)(shape->c, shape->h, shape->w, n, c, y, x);
}

static size_t output_at(const block_shape *shape, int n, int k, int y, int x)
{
    return (shape->output_channels_last ? channels_last : channels_first)(shape->k, shape->h / 2, shape->w / 2, n, k, y,
                                                                          x);
}

static size_t convolution_at(const block_shape *shape, int n, int k, int y, int x)
{
    return channels_last(shape->k, shape->h, shape->w, n, k, y, x);
}

static size_t code_at(const block_shape *shape, int n, int k, int y, int x)
{
    return channels_last(shape->k, shape->h / 2, shape->w / 2, n, k, y, x);
}

static size_t weight_at(const block_shape *shape, int k, int c, int r, int s)
{
    return channels_first(shape->c, 3, 3, k, c, r, s);
}

// input: (n, c, h, w), weight: (k, c, 3, 3)
static double convolve(const block_shape *shape, const double *input, const double *weight, int n, int k, int y, int x)
{
    double sum = 0;
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int iy = y + r - 1, ix = x + s - 1;
                if (iy >= 0 && iy < shape->h && ix >= 0 && ix < shape->w)
                    sum += weight[weight_at(shape, k, c, r, s)] * input[input_at(shape, n, c, iy, ix)];
            }
    return sum;
}

void heddle_conv_block_reference_convolution(const heddle_conv_block_shape *shape, const double *input,
                                             const double *weight, double *convolution)
{
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                for (int k = 0; k < shape->k; k++)
                    convolution[convolution_at(shape, n, k, y, x)] = convolve(shape, input, weight, n, k, y, x);
}

// Mean and population variance of channel k of the convolution.
static void channel_statistics(const block_shape *shape, const double *convolution, int k, double *mean,
                               double *variance)
{
    double pixels = heddle_conv_block_pixels(shape), sum = 0, squares = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += convolution[convolution_at(shape, n, k, y, x)];
    *mean = sum / pixels;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++) {
                double difference = convolution[convolution_at(shape, n, k, y, x)] - *mean;
                squares += difference * difference;
            }
    *variance = squares / pixels;
}

// The largest of the four normalised values of a window, and its position; the first wins a tie, NaN wins over
// everything.
static double window_maximum(const double window[4], int *winner)
{
    *winner = 0;
    for (int i = 1; i < 4; i++)
        if (window[i] > window[*winner] || isnan(window[i]))
            *winner = i;
    return window[*winner];
}

void heddle_conv_block_reference_forward(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    const double *bias = input[2], *gamma = input[3], *beta = input[4];
    double *convolution = output[1], *running_mean = output[5], *running_var = output[6];
    double pixels = heddle_conv_block_pixels(shape);

    heddle_conv_block_reference_convolution(shape, input[0], input[1], convolution);
    for (int k = 0; k < shape->k; k++) {
        double mean, variance;
        channel_statistics(shape, convolution, k, &mean, &variance);
        double inverse_std = 1 / sqrt(variance + (double)shape->epsilon), momentum = (double)shape->momentum;
        output[2][k] = mean;
        output[3][k] = inverse_std;
        if (running_mean)
            running_mean[k] += momentum * (mean + (bias ? bias[k] : 0) - running_mean[k]);
        if (running_var)
            running_var[k] += momentum * (variance * pixels / (pixels - 1) - running_var[k]);

        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h / 2; y++)
                for (int x = 0; x < shape->w / 2; x++) {
                    double window[4];
                    int winner;
                    for (int i = 0; i < 4; i++) {
                        double z = convolution[convolution_at(shape, n, k, 2 * y + i / 2, 2 * x + i % 2)];
                        window[i] = gamma[k] * (z - mean) * inverse_std + beta[k];
                    }
                    double maximum = window_maximum(window, &winner);
                    output[0][output_at(shape, n, k, y, x)] = maximum <= 0 ? 0 : maximum;
                    output[4][code_at(shape, n, k, y, x)] = maximum <= 0 ? HEDDLE_CONV_BLOCK_NO_WINNER : winner;
                }
    }
}

void heddle_conv_block_reference_inference(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    const double *bias = input[2], *gamma = input[3], *beta = input[4], *mean = input[5], *variance = input[6];
    for (int n = 0; n < shape->n; n++)
        for (int k = 0; k < shape->k; k++)
            for (int y = 0; y < shape->h / 2; y++)
                for (int x = 0; x < shape->w / 2; x++) {
                    double window[4], inverse_std = 1 / sqrt(variance[k] + (double)shape->epsilon);
                    int winner;
                    for (int i = 0; i < 4; i++) {
                        double z = convolve(shape, input[0], input[1], n, k, 2 * y + i / 2, 2 * x + i % 2);
                        window[i] = gamma[k] * (z + (bias ? bias[k] : 0) - mean[k]) * inverse_std + beta[k];
                    }
                    double maximum = window_maximum(window, &winner);
                    output[0][output_at(shape, n, k, y, x)] = maximum <= 0 ? 0 : maximum;
                }
}

// The gradient of the normalised value at (y, x): its window's, if it won. 0 outside every window.
static double grad_normalised(const block_shape *shape, const double *code, const double *grad_output, int n, int k,
                              int y, int x)
{
    if (y / 2 >= shape->h / 2 || x / 2 >= shape->w / 2 ||
        code[code_at(shape, n, k, y / 2, x / 2)] != (double)(y % 2 * 2 + x % 2))
        return 0;
    return grad_output[output_at(shape, n, k, y / 2, x / 2)];
}

// Adds the contribution of one convolution value's gradient to the input and the weights.
static void scatter(const block_shape *shape, const double *const *input, double *grad_input, double *grad_weight,
                    double grad, int n, int k, int y, int x)
{
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int iy = y + r - 1, ix = x + s - 1;
                if (iy < 0 || iy >= shape->h || ix < 0 || ix >= shape->w)
                    continue;
                size_t tap = weight_at(shape, k, c, r, s), pixel = input_at(shape, n, c, iy, ix);
                grad_weight[tap] += grad * input[0][pixel];
                if (grad_input)
                    grad_input[pixel] += grad * input[1][tap];
            }
}

void heddle_conv_block_reference_backward(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    const double *gamma = input[2], *convolution = input[4], *code = input[7], *grad_output = input[8];
    double *grad_input = output[0], *grad_weight = output[1], *grad_bias = output[2];
    double pixels = heddle_conv_block_pixels(shape);

    for (size_t i = 0; grad_input && i < (size_t)shape->n * shape->c * shape->h * shape->w; i++)
        grad_input[i] = 0;
    for (size_t i = 0; i < (size_t)shape->k * shape->c * HEDDLE_CONV_BLOCK_TAPS; i++)
        grad_weight[i] = 0;

    for (int k = 0; k < shape->k; k++) {
        double mean = input[5][k], inverse_std = input[6][k], sum = 0, weighted = 0;
        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++) {
                    double grad = grad_normalised(shape, code, grad_output, n, k, y, x);
                    sum += grad;
                    weighted += grad * (convolution[convolution_at(shape, n, k, y, x)] - mean) * inverse_std;
                }
        output[3][k] = weighted;
        output[4][k] = sum;
        if (grad_bias)
            grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds

        for (int n = 0; n < shape->n; n++)
            for (int y = 0; y < shape->h; y++)
                for (int x = 0; x < shape->w; x++) {
                    double normalised = (convolution[convolution_at(shape, n, k, y, x)] - mean) * inverse_std;
                    double grad = grad_normalised(shape, code, grad_output, n, k, y, x);
                    grad = gamma[k] * inverse_std * (grad - sum / pixels - normalised * weighted / pixels);
                    scatter(shape, input, grad_input, grad_weight, grad, n, k, y, x);
                }
    }
}
