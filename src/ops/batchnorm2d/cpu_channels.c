// batchnorm2d, second rung: channels spread over the threads, vectors along each plane.
//
// A channel's planes are read twice for the statistics (mean, then squares around it) and once more to normalise; at
// training sizes they stay in the second-level cache meanwhile. A channel is summed by one thread in image order, so
// the bits do not depend on the number of threads.
//
// Limited by: memory. The fused blocks take the statistics while the convolution's output is still in registers.

#include <math.h>

#include "heddle/ops.h"
#include "ops/batchnorm2d/batchnorm2d.h"
#include "ops/clones.h"
#include "ops/lanes.h"
#include "ops/pieces.h"

// Channel c of an (n, c, h, w) array: `images` planes of `plane` floats, `stride` apart.
typedef struct channel_planes {
    size_t first, stride, plane;
    int images;
} channel_planes;

static channel_planes channel_of(const heddle_batchnorm2d_shape *shape, int c)
{
    size_t plane = (size_t)shape->h * shape->w;
    return (channel_planes){.first = c * plane, .stride = shape->c * plane, .plane = plane, .images = shape->n};
}

HEDDLE_CLONES static double channel_sum(const channel_planes *channel, const float *x)
{
    double sum = 0;
    for (int n = 0; n < channel->images; n++)
        sum += heddle_sum(x + channel->first + n * channel->stride, channel->plane);
    return sum;
}

HEDDLE_CLONES static double channel_squares(const channel_planes *channel, const float *x, double center)
{
    double sum = 0;
    for (int n = 0; n < channel->images; n++)
        sum += heddle_sum_squares_from(x + channel->first + n * channel->stride, channel->plane, center);
    return sum;
}

HEDDLE_CLONES static double channel_products(const channel_planes *channel, const float *x, double center,
                                             const float *y)
{
    double sum = 0;
    for (int n = 0; n < channel->images; n++) {
        size_t at = channel->first + n * channel->stride;
        sum += heddle_sum_products_from(x + at, center, y + at, channel->plane);
    }
    return sum;
}

// y = (x - mean) * scale + shift. The mean is taken off first: folded into the shift it would cost digits.
HEDDLE_CLONES static void normalise(const channel_planes *channel, const float *restrict x, float mean, float scale,
                                    float shift, float *restrict y)
{
    for (int n = 0; n < channel->images; n++) {
        size_t at = channel->first + n * channel->stride;
        for (size_t i = at; i < at + channel->plane; i++)
            y[i] = (x[i] - mean) * scale + shift;
    }
}

static void forward_channel(void *context, int c, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const heddle_batchnorm2d_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *beta = call->input[2];
    float *output = call->output[0], *saved_mean = call->output[1], *saved_inverse_std = call->output[2];
    float *running_mean = call->output[3], *running_var = call->output[4];
    channel_planes channel = channel_of(shape, c);
    double count = (double)channel.plane * channel.images;
    double mean = channel_sum(&channel, input) / count;
    double squares = channel_squares(&channel, input, mean);
    float inverse_std = (float)(1.0 / sqrt(squares / count + shape->epsilon));
    saved_mean[c] = (float)mean;
    saved_inverse_std[c] = inverse_std;
    if (running_mean)
        running_mean[c] += shape->momentum * ((float)mean - running_mean[c]);
    if (running_var)
        running_var[c] += shape->momentum * ((float)(squares / (count - 1)) - running_var[c]);
    float scale = inverse_std * gamma[c];
    // What rounding the mean to a float left over goes into the shift: it counts where the mean is large.
    float shift = (float)(beta[c] - (mean - saved_mean[c]) * scale);
    normalise(&channel, input, saved_mean[c], scale, shift, output);
}

heddle_status heddle_batchnorm2d_forward_cpu_channels(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    heddle_pool_run(call->pool, shape->c, forward_channel, (void *)call);
    return HEDDLE_OK;
}

// grad_input = scale * (grad - mean_grad - (x - mean) * slope)
HEDDLE_CLONES static void input_gradient(const channel_planes *channel, const float *restrict x,
                                         const float *restrict grad, float mean, float scale, float mean_grad,
                                         float slope, float *restrict grad_input)
{
    for (int n = 0; n < channel->images; n++) {
        size_t at = channel->first + n * channel->stride;
        for (size_t i = at; i < at + channel->plane; i++)
            grad_input[i] = scale * (grad[i] - mean_grad - (x[i] - mean) * slope);
    }
}

static void backward_channel(void *context, int c, int worker)
{
    (void)worker;
    const heddle_call *call = context;
    const float *input = call->input[0], *gamma = call->input[1], *mean = call->input[2];
    const float *inverse_std = call->input[3], *grad_output = call->input[4];
    float *grad_input = call->output[0], *grad_gamma = call->output[1], *grad_beta = call->output[2];
    channel_planes channel = channel_of(call->shape, c);
    double count = (double)channel.plane * channel.images;
    double sum = channel_sum(&channel, grad_output);
    double product = channel_products(&channel, input, mean[c], grad_output) * inverse_std[c];
    grad_beta[c] = (float)sum;
    grad_gamma[c] = (float)product;
    if (grad_input)
        input_gradient(&channel, input, grad_output, mean[c], gamma[c] * inverse_std[c], (float)(sum / count),
                       (float)(product / count * inverse_std[c]), grad_input);
}

heddle_status heddle_batchnorm2d_backward_cpu_channels(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    heddle_pool_run(call->pool, shape->c, backward_channel, (void *)call);
    return HEDDLE_OK;
}

// Planes [begin, end), counted over images and channels.
static void inference_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_batchnorm2d_shape *shape = call->shape;
    const float *gamma = call->input[1], *beta = call->input[2];
    const float *running_mean = call->input[3], *running_var = call->input[4];
    size_t size = (size_t)shape->h * shape->w;
    for (size_t index = begin; index < end; index++) {
        size_t c = index % shape->c;
        channel_planes plane = {.first = index * size, .plane = size, .images = 1};
        normalise(&plane, call->input[0], running_mean[c], gamma[c] / sqrtf(running_var[c] + shape->epsilon), beta[c],
                  call->output[0]);
    }
}

heddle_status heddle_batchnorm2d_inference_cpu_channels(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->n * shape->c, heddle_piece_rows((size_t)shape->h * shape->w),
                      inference_planes, (void *)call);
    return HEDDLE_OK;
}
