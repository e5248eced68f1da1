// conv2d_grouped, first rung: straight from the definition, one thread.
//
// Limited by: index arithmetic and a bounds check per multiplication. cpu_planes works on whole rows.

#include "ops/conv2d_grouped/conv2d_grouped.h"

// One channel's part of an output element: the taps of its window.
static float window_sum(const heddle_conv2d_shape *conv, const float *plane, const float *taps, int y, int x)
{
    float sum = 0;
    for (int r = 0; r < conv->r; r++)
        for (int s = 0; s < conv->s; s++) {
            int h = y * conv->stride + r * conv->dilation - conv->padding;
            int w = x * conv->stride + s * conv->dilation - conv->padding;
            if (h >= 0 && h < conv->h && w >= 0 && w < conv->w)
                sum += plane[(size_t)h * conv->w + w] * taps[(size_t)r * conv->s + s];
        }
    return sum;
}

// input (n, c, h, w), weight (k, c / groups, r, s), bias (k) -> output (n, k, ho, wo)
heddle_status heddle_conv2d_grouped_forward_cpu_naive(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = call->shape;
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const float *input = call->input[0], *weight = call->input[1], *bias = call->input[2];
    float *output = call->output[0];
    size_t taps = (size_t)conv->r * conv->s;
    for (int n = 0; n < conv->n; n++)
        for (int k = 0; k < conv->k; k++) {
            const float *planes = input + ((size_t)n * conv->c + k / group.filters * group.channels) * group.in_plane;
            for (int y = 0; y < group.out_h; y++)
                for (int x = 0; x < group.out_w; x++) {
                    float sum = bias ? bias[k] : 0.0f;
                    for (size_t c = 0; c < (size_t)group.channels; c++)
                        sum += window_sum(conv, planes + c * group.in_plane,
                                          weight + ((size_t)k * group.channels + c) * taps, y, x);
                    *output++ = sum;
                }
        }
    return HEDDLE_OK;
}

// What one element of grad_output adds to the gradient of one channel.
static void scatter_window(const heddle_conv2d_shape *conv, float grad, const float *taps, float *grad_plane, int y,
                           int x)
{
    for (int r = 0; r < conv->r; r++)
        for (int s = 0; s < conv->s; s++) {
            int h = y * conv->stride + r * conv->dilation - conv->padding;
            int w = x * conv->stride + s * conv->dilation - conv->padding;
            if (h >= 0 && h < conv->h && w >= 0 && w < conv->w)
                grad_plane[(size_t)h * conv->w + w] += grad * taps[(size_t)r * conv->s + s];
        }
}

// weight (k, c / groups, r, s), grad_output (n, k, ho, wo) -> grad_input (n, c, h, w)
heddle_status heddle_conv2d_grouped_backward_data_cpu_naive(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = call->shape;
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const float *weight = call->input[0], *grad_output = call->input[1];
    float *grad_input = call->output[0];
    size_t taps = (size_t)conv->r * conv->s;
    for (size_t i = 0; i < (size_t)conv->n * conv->c * group.in_plane; i++)
        grad_input[i] = 0;
    for (int n = 0; n < conv->n; n++)
        for (int k = 0; k < conv->k; k++) {
            float *planes = grad_input + ((size_t)n * conv->c + k / group.filters * group.channels) * group.in_plane;
            for (int y = 0; y < group.out_h; y++)
                for (int x = 0; x < group.out_w; x++, grad_output++)
                    for (size_t c = 0; c < (size_t)group.channels; c++)
                        scatter_window(conv, *grad_output, weight + ((size_t)k * group.channels + c) * taps,
                                       planes + c * group.in_plane, y, x);
        }
    return HEDDLE_OK;
}

// One image's part of the gradient of tap (r, s).
static float tap_sum(const heddle_conv2d_shape *conv, const heddle_conv2d_group *group, const float *plane,
                     const float *grad_plane, int r, int s)
{
    float sum = 0;
    for (int y = 0; y < group->out_h; y++)
        for (int x = 0; x < group->out_w; x++) {
            int h = y * conv->stride + r * conv->dilation - conv->padding;
            int w = x * conv->stride + s * conv->dilation - conv->padding;
            if (h >= 0 && h < conv->h && w >= 0 && w < conv->w)
                sum += plane[(size_t)h * conv->w + w] * grad_plane[(size_t)y * group->out_w + x];
        }
    return sum;
}

static float bias_sum(const heddle_conv2d_shape *conv, size_t plane, const float *grad_output, int k)
{
    float sum = 0;
    for (int n = 0; n < conv->n; n++)
        for (size_t i = 0; i < plane; i++)
            sum += grad_output[((size_t)n * conv->k + k) * plane + i];
    return sum;
}

// input (n, c, h, w), grad_output (n, k, ho, wo) -> grad_weight (k, c / groups, r, s), grad_bias (k)
heddle_status heddle_conv2d_grouped_backward_weight_cpu_naive(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = call->shape;
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const float *input = call->input[0], *grad_output = call->input[1];
    float *grad_weight = call->output[0], *grad_bias = call->output[1];
    for (int k = 0; k < conv->k; k++)
        for (int c = 0; c < group.channels; c++)
            for (int r = 0; r < conv->r; r++)
                for (int s = 0; s < conv->s; s++) {
                    size_t channel = (size_t)(k / group.filters) * group.channels + c;
                    float sum = 0;
                    for (size_t n = 0; n < (size_t)conv->n; n++)
                        sum += tap_sum(conv, &group, input + (n * conv->c + channel) * group.in_plane,
                                       grad_output + (n * conv->k + k) * group.out_plane, r, s);
                    *grad_weight++ = sum;
                }
    for (int k = 0; grad_bias && k < conv->k; k++)
        grad_bias[k] = bias_sum(conv, group.out_plane, grad_output, k);
    return HEDDLE_OK;
}
