// conv2d, first rung: seven loops, one thread, straight from the definition.
//
// Limited by: index arithmetic and a bounds check per multiplication. cpu_im2col turns it into matrix products.

#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"

// Row or column of the input that tap `tap` of output position `position` reads; may be outside.
static int source(const heddle_conv2d_shape *shape, int position, int tap)
{
    return position * shape->stride + tap * shape->dilation - shape->padding;
}

// One output element: the window's taps over all input channels.
static float window_sum(const heddle_conv2d_shape *shape, const float *image, const float *filter, int y, int x)
{
    float sum = 0;
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < shape->r; r++)
            for (int s = 0; s < shape->s; s++) {
                int h = source(shape, y, r), w = source(shape, x, s);
                if (h >= 0 && h < shape->h && w >= 0 && w < shape->w)
                    sum += image[((size_t)c * shape->h + h) * shape->w + w] *
                           filter[((size_t)c * shape->r + r) * shape->s + s];
            }
    return sum;
}

// input (n, c, h, w), weight (k, c, r, s), bias (k) -> output (n, k, ho, wo)
heddle_status heddle_conv2d_forward_cpu_naive(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = call->shape;
    const float *input = call->input[0], *weight = call->input[1], *bias = call->input[2];
    float *output = call->output[0];
    int out_h = heddle_conv2d_out_h(shape), out_w = heddle_conv2d_out_w(shape);
    size_t image_size = (size_t)shape->c * shape->h * shape->w, filter_size = (size_t)shape->c * shape->r * shape->s;
    for (int n = 0; n < shape->n; n++)
        for (int k = 0; k < shape->k; k++)
            for (int y = 0; y < out_h; y++)
                for (int x = 0; x < out_w; x++)
                    *output++ = window_sum(shape, input + n * image_size, weight + k * filter_size, y, x) +
                                (bias ? bias[k] : 0.0f);
    return HEDDLE_OK;
}

// What one element of grad_output adds to the gradient of its image.
static void scatter_window(const heddle_conv2d_shape *shape, float grad, const float *filter, float *grad_image, int y,
                           int x)
{
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < shape->r; r++)
            for (int s = 0; s < shape->s; s++) {
                int h = source(shape, y, r), w = source(shape, x, s);
                if (h >= 0 && h < shape->h && w >= 0 && w < shape->w)
                    grad_image[((size_t)c * shape->h + h) * shape->w + w] +=
                        grad * filter[((size_t)c * shape->r + r) * shape->s + s];
            }
}

// weight (k, c, r, s), grad_output (n, k, ho, wo) -> grad_input (n, c, h, w)
heddle_status heddle_conv2d_backward_data_cpu_naive(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = call->shape;
    const float *weight = call->input[0], *grad_output = call->input[1];
    float *grad_input = call->output[0];
    int out_h = heddle_conv2d_out_h(shape), out_w = heddle_conv2d_out_w(shape);
    size_t image_size = (size_t)shape->c * shape->h * shape->w, filter_size = (size_t)shape->c * shape->r * shape->s;
    for (size_t i = 0; i < image_size * shape->n; i++)
        grad_input[i] = 0;
    for (int n = 0; n < shape->n; n++)
        for (int k = 0; k < shape->k; k++)
            for (int y = 0; y < out_h; y++)
                for (int x = 0; x < out_w; x++)
                    scatter_window(shape, *grad_output++, weight + k * filter_size, grad_input + n * image_size, y, x);
    return HEDDLE_OK;
}

// One element of grad_weight: tap (r, s) of channel c over all images and output positions.
static float tap_sum(const heddle_conv2d_shape *shape, const float *input, const float *grad_output, int k, int c,
                     int r, int s)
{
    int out_h = heddle_conv2d_out_h(shape), out_w = heddle_conv2d_out_w(shape);
    float sum = 0;
    for (int n = 0; n < shape->n; n++) {
        const float *plane = input + ((size_t)n * shape->c + c) * shape->h * shape->w;
        const float *grad_plane = grad_output + ((size_t)n * shape->k + k) * out_h * out_w;
        for (int y = 0; y < out_h; y++)
            for (int x = 0; x < out_w; x++) {
                int h = source(shape, y, r), w = source(shape, x, s);
                if (h >= 0 && h < shape->h && w >= 0 && w < shape->w)
                    sum += plane[(size_t)h * shape->w + w] * grad_plane[(size_t)y * out_w + x];
            }
    }
    return sum;
}

static float bias_sum(const heddle_conv2d_shape *shape, const float *grad_output, int k)
{
    size_t plane = (size_t)heddle_conv2d_out_h(shape) * heddle_conv2d_out_w(shape);
    float sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (size_t i = 0; i < plane; i++)
            sum += grad_output[((size_t)n * shape->k + k) * plane + i];
    return sum;
}

// input (n, c, h, w), grad_output (n, k, ho, wo) -> grad_weight (k, c, r, s), grad_bias (k)
heddle_status heddle_conv2d_backward_weight_cpu_naive(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = call->shape;
    float *grad_weight = call->output[0], *grad_bias = call->output[1];
    for (int k = 0; k < shape->k; k++)
        for (int c = 0; c < shape->c; c++)
            for (int r = 0; r < shape->r; r++)
                for (int s = 0; s < shape->s; s++)
                    *grad_weight++ = tap_sum(shape, call->input[0], call->input[1], k, c, r, s);
    for (int k = 0; grad_bias && k < shape->k; k++)
        grad_bias[k] = bias_sum(shape, call->input[1], k);
    return HEDDLE_OK;
}
