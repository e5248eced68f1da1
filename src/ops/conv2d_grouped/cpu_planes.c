// conv2d_grouped, second rung: one tap of the filter after another, as vector loops over whole rows of a plane, with
// planes spread over the threads. The rows and columns that a tap reaches are computed before the loop, so no
// multiplication needs a check. It suits few channels per group: then a plane stays in the L1 cache.
//
// Limited by: reading and writing the plane once per tap.

#include <string.h>

#include "ops/clones.h"
#include "ops/conv2d_grouped/conv2d_grouped.h"
#include "ops/pieces.h"

enum { SUMS = 8 };

// Output positions [begin, end) along one axis that tap `tap` reads inside the image, and the first place it reads.
typedef struct span {
    int begin, end, first;
} span;

static span span_of(const heddle_conv2d_shape *conv, int tap, int places, int positions)
{
    int offset = tap * conv->dilation - conv->padding;
    span found = {.begin = offset < 0 ? (-offset + conv->stride - 1) / conv->stride : 0, .end = 0};
    int last = places - 1 - offset;
    if (last >= 0)
        found.end = last / conv->stride + 1 < positions ? last / conv->stride + 1 : positions;
    found.first = found.begin * conv->stride + offset;
    return found;
}

// output[i] += factor * input[i * stride]
HEDDLE_CLONES static void add_row(const float *restrict input, int stride, int count, float factor,
                                  float *restrict output)
{
    if (stride == 1)
        for (int i = 0; i < count; i++)
            output[i] += factor * input[i];
    else
        for (int i = 0; i < count; i++)
            output[i] += factor * input[(size_t)i * stride];
}

// input[i * stride] += factor * output[i]
HEDDLE_CLONES static void scatter_row(const float *restrict output, int stride, int count, float factor,
                                      float *restrict input)
{
    if (stride == 1)
        for (int i = 0; i < count; i++)
            input[i] += factor * output[i];
    else
        for (int i = 0; i < count; i++)
            input[(size_t)i * stride] += factor * output[i];
}

HEDDLE_CLONES static float multiply_rows(const float *restrict input, int stride, int count,
                                         const float *restrict output)
{
    float sums[SUMS] = {0}, sum = 0;
    int whole = stride == 1 ? count / SUMS * SUMS : 0;
    for (int i = 0; i < whole; i += SUMS)
        for (int j = 0; j < SUMS; j++)
            sums[j] += input[i + j] * output[i + j];
    for (int i = whole; i < count; i++)
        sum += input[(size_t)i * stride] * output[i];
    for (int j = 0; j < SUMS; j++)
        sum += sums[j];
    return sum;
}

// The operation on one channel and one filter's part for it, `taps` (r, s).
typedef enum pass { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHT } pass;

static void pair_planes(const heddle_conv2d_grouped_shape *shape, pass which, float *plane, float *taps,
                        float *out_plane)
{
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    for (int r = 0; r < conv->r; r++) {
        const span rows = span_of(conv, r, conv->h, group.out_h);
        for (int s = 0; s < conv->s; s++) {
            const span columns = span_of(conv, s, conv->w, group.out_w);
            const int count = columns.end - columns.begin;
            float *tap = taps + (size_t)r * conv->s + s;
            for (int y = rows.begin; y < rows.end && count > 0; y++) {
                int h = rows.first + (y - rows.begin) * conv->stride;
                float *input = plane + (size_t)h * conv->w + columns.first;
                float *output = out_plane + (size_t)y * group.out_w + columns.begin;
                if (which == FORWARD)
                    add_row(input, conv->stride, count, *tap, output);
                else if (which == BACKWARD_DATA)
                    scatter_row(output, conv->stride, count, *tap, input);
                else
                    *tap += multiply_rows(input, conv->stride, count, output);
            }
        }
    }
}

static float *channel(const heddle_conv2d_shape *conv, const void *images, size_t image, size_t index)
{
    return (float *)images + (image * conv->c + index) * conv->h * conv->w;
}

// Planes of the output.
static void forward_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_conv2d_grouped_shape *shape = call->shape;
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const float *bias = call->input[2];
    for (size_t p = begin; p < end; p++) {
        size_t n = p / conv->k, k = p % conv->k, first = k / group.filters * group.channels;
        float *output = (float *)call->output[0] + p * group.out_plane;
        for (size_t i = 0; i < group.out_plane; i++)
            output[i] = bias ? bias[k] : 0.0f;
        for (size_t c = 0; c < (size_t)group.channels; c++)
            pair_planes(shape, FORWARD, channel(conv, call->input[0], n, first + c),
                        (float *)call->input[1] + (k * group.channels + c) * conv->r * conv->s, output);
    }
}

// Planes of the input's gradient.
static void backward_data_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_conv2d_grouped_shape *shape = call->shape;
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    for (size_t p = begin; p < end; p++) {
        size_t n = p / conv->c, c = p % conv->c, first = c / group.channels * group.filters;
        float *grad_plane = (float *)call->output[0] + p * group.in_plane;
        memset(grad_plane, 0, group.in_plane * sizeof *grad_plane);
        for (size_t k = first; k < first + group.filters; k++)
            pair_planes(shape, BACKWARD_DATA, grad_plane,
                        (float *)call->input[0] + (k * group.channels + c % group.channels) * conv->r * conv->s,
                        (float *)call->input[1] + (n * conv->k + k) * group.out_plane);
    }
}

// Filters, each with its bias.
static void backward_weight_filters(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_conv2d_grouped_shape *shape = call->shape;
    const heddle_conv2d_shape *conv = &shape->conv;
    const heddle_conv2d_group group = heddle_conv2d_group_of(shape);
    const size_t taps = (size_t)conv->r * conv->s;
    float *grad_bias = call->output[1];
    for (size_t k = begin; k < end; k++) {
        float *filter = (float *)call->output[0] + k * group.channels * taps, sum = 0;
        memset(filter, 0, group.channels * taps * sizeof *filter);
        for (size_t n = 0; n < (size_t)conv->n; n++) {
            float *out_plane = (float *)call->input[1] + (n * conv->k + k) * group.out_plane, plane_sum = 0;
            for (size_t c = 0; c < (size_t)group.channels; c++)
                pair_planes(shape, BACKWARD_WEIGHT,
                            channel(conv, call->input[0], n, k / group.filters * group.channels + c), filter + c * taps,
                            out_plane);
            for (size_t i = 0; grad_bias && i < group.out_plane; i++)
                plane_sum += out_plane[i];
            sum += plane_sum;
        }
        if (grad_bias)
            grad_bias[k] = sum;
    }
}

heddle_status heddle_conv2d_grouped_forward_cpu_planes(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->conv.n * shape->conv.k,
                      heddle_piece_rows(heddle_conv2d_group_of(shape).out_plane), forward_planes, (void *)call);
    return HEDDLE_OK;
}

heddle_status heddle_conv2d_grouped_backward_data_cpu_planes(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->conv.n * shape->conv.c,
                      heddle_piece_rows(heddle_conv2d_group_of(shape).in_plane), backward_data_planes, (void *)call);
    return HEDDLE_OK;
}

heddle_status heddle_conv2d_grouped_backward_weight_cpu_planes(const heddle_call *call)
{
    const heddle_conv2d_grouped_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->conv.k, 1, backward_weight_filters, (void *)call);
    return HEDDLE_OK;
}
