// batchnorm2d, second rung: channels spread over the threads, vectors along each plane.
//
// A channel's planes are read twice for the statistics (mean, then squares around it) and once more to normalise; at
// training sizes they stay in the L2 cache meanwhile. A channel is summed by one thread in image order, so the bits do
// not depend on the number of threads.
//
// Limited by: memory bandwidth. The fused blocks take the statistics while the convolution's output is still in
// registers.

#include <math.h>

#include "heddle/ops.h"
#include "ops/across.h"
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

// y = (x - mean) * scale + shift. The mean is subtracted first: folded into the shift it would cost digits.
HEDDLE_CLONES static void normalise(const channel_planes *channel, const float *restrict x, float mean, float scale,
                                    float shift, float *restrict y)
{
    for (int n = 0; n < channel->images; n++) {
        size_t at = channel->first + n * channel->stride;
        for (size_t i = at; i < at + channel->plane; i++)
            y[i] = (x[i] - mean) * scale + shift;
    }
}

// Of a channel over the whole batch: the number of values, their mean, and the squares around it.
typedef struct channel_statistics {
    double count, mean, squares;
} channel_statistics;

static channel_statistics statistics_of(const heddle_call *call, int c)
{
    channel_planes channel = channel_of(call->shape, c);
    channel_statistics found = {.count = (double)channel.plane * channel.images};
    found.mean = channel_sum(&channel, call->input[0]) / found.count;
    found.squares = channel_squares(&channel, call->input[0], found.mean);
    return found;
}

static void apply_statistics(const heddle_call *call, int c, const channel_statistics *statistics)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    const float *input = call->input[0], *gamma = call->input[1], *beta = call->input[2];
    float *output = call->output[0], *saved_mean = call->output[1], *saved_inverse_std = call->output[2];
    float *running_mean = call->output[3], *running_var = call->output[4];
    channel_planes channel = channel_of(shape, c);
    double count = statistics->count, mean = statistics->mean, squares = statistics->squares;
    float inverse_std = (float)(1.0 / sqrt(squares / count + shape->epsilon));
    saved_mean[c] = (float)mean;
    saved_inverse_std[c] = inverse_std;
    if (running_mean)
        running_mean[c] += shape->momentum * ((float)mean - running_mean[c]);
    if (running_var)
        running_var[c] += shape->momentum * ((float)(squares / (count - 1)) - running_var[c]);
    float scale = inverse_std * gamma[c];
    // The rounding error of the mean as a float goes into the shift: it matters if the mean is large.
    float shift = (float)(beta[c] - (mean - saved_mean[c]) * scale);
    normalise(&channel, input, saved_mean[c], scale, shift, output);
}

static void forward_channel(void *context, int c, int worker)
{
    (void)worker;
    channel_statistics statistics = statistics_of(context, c);
    apply_statistics(context, c, &statistics);
}

// --- a batch spread over processes: channels in chunks whose sums are sent together ----------------------------------

typedef struct channel_chunk {
    const heddle_call *call;
    int first, channels;
    channel_statistics statistics[HEDDLE_ACROSS_CHUNK];
    double sums[HEDDLE_ACROSS_CHUNK][2]; // backward: Σ dy, Σ dy x̂
} channel_chunk;

static void find_statistics(void *context, int i, int worker)
{
    (void)worker;
    channel_chunk *chunk = context;
    chunk->statistics[i] = statistics_of(chunk->call, chunk->first + i);
}

static void use_statistics(void *context, int i, int worker)
{
    (void)worker;
    const channel_chunk *chunk = context;
    apply_statistics(chunk->call, chunk->first + i, &chunk->statistics[i]);
}

// Raw moments are sent: in double they lose no digit of a float.
static heddle_status share_statistics(channel_chunk *chunk)
{
    double values[1 + 2 * HEDDLE_ACROSS_CHUNK];
    values[0] = chunk->statistics[0].count;
    for (int i = 0; i < chunk->channels; i++) {
        const channel_statistics *own = &chunk->statistics[i];
        values[1 + 2 * i] = own->count * own->mean;
        values[2 + 2 * i] = own->squares + own->count * own->mean * own->mean;
    }
    HEDDLE_TRY(heddle_across_sum(chunk->call, values, 1 + 2 * chunk->channels));
    for (int i = 0; i < chunk->channels; i++) {
        double mean = values[1 + 2 * i] / values[0], squares = values[2 + 2 * i] - values[0] * mean * mean;
        chunk->statistics[i] = (channel_statistics){values[0], mean, squares < 0 ? 0 : squares};
    }
    return HEDDLE_OK;
}

static channel_chunk chunk_from(const heddle_call *call, int first)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    int rest = shape->c - first;
    return (channel_chunk){
        .call = call, .first = first, .channels = rest < HEDDLE_ACROSS_CHUNK ? rest : HEDDLE_ACROSS_CHUNK};
}

static heddle_status forward_across(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    for (int first = 0; first < shape->c; first += HEDDLE_ACROSS_CHUNK) {
        channel_chunk chunk = chunk_from(call, first);
        heddle_pool_run(call->pool, chunk.channels, find_statistics, &chunk);
        HEDDLE_TRY(share_statistics(&chunk));
        heddle_pool_run(call->pool, chunk.channels, use_statistics, &chunk);
    }
    return HEDDLE_OK;
}

heddle_status heddle_batchnorm2d_forward_cpu_channels(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    if (heddle_across_several(call))
        return forward_across(call);
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

// Σ dy and Σ dy x̂ of this process's samples: the gradients of beta and gamma.
static void sum_gradients(const heddle_call *call, int c, double sums[2])
{
    const float *mean = call->input[2], *inverse_std = call->input[3], *grad_output = call->input[4];
    channel_planes channel = channel_of(call->shape, c);
    sums[0] = channel_sum(&channel, grad_output);
    sums[1] = channel_products(&channel, call->input[0], mean[c], grad_output) * inverse_std[c];
    ((float *)call->output[2])[c] = (float)sums[0];
    ((float *)call->output[1])[c] = (float)sums[1];
}

static void apply_gradients(const heddle_call *call, int c, const double sums[2], double count)
{
    const float *gamma = call->input[1], *mean = call->input[2], *inverse_std = call->input[3];
    channel_planes channel = channel_of(call->shape, c);
    if (call->output[0])
        input_gradient(&channel, call->input[0], call->input[4], mean[c], gamma[c] * inverse_std[c],
                       (float)(sums[0] / count), (float)(sums[1] / count * inverse_std[c]), call->output[0]);
}

static double values_of(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    return (double)shape->n * shape->h * shape->w;
}

static void backward_channel(void *context, int c, int worker)
{
    (void)worker;
    double sums[2];
    sum_gradients(context, c, sums);
    apply_gradients(context, c, sums, values_of(context));
}

static void find_sums(void *context, int i, int worker)
{
    (void)worker;
    channel_chunk *chunk = context;
    sum_gradients(chunk->call, chunk->first + i, chunk->sums[i]);
}

static void use_sums(void *context, int i, int worker)
{
    (void)worker;
    const channel_chunk *chunk = context;
    apply_gradients(chunk->call, chunk->first + i, chunk->sums[i], chunk->statistics[0].count);
}

static heddle_status backward_across(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    for (int first = 0; first < shape->c; first += HEDDLE_ACROSS_CHUNK) {
        channel_chunk chunk = chunk_from(call, first);
        chunk.statistics[0].count = values_of(call);
        heddle_pool_run(call->pool, chunk.channels, find_sums, &chunk);
        HEDDLE_TRY(heddle_across_sum(call, &chunk.statistics[0].count, 1));
        HEDDLE_TRY(heddle_across_sum(call, chunk.sums[0], 2 * chunk.channels));
        heddle_pool_run(call->pool, chunk.channels, use_sums, &chunk);
    }
    return HEDDLE_OK;
}

heddle_status heddle_batchnorm2d_backward_cpu_channels(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = call->shape;
    if (heddle_across_several(call))
        return backward_across(call);
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
