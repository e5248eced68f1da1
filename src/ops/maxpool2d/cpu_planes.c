// maxpool2d, second rung: planes spread over the threads; adjacent 2x2 windows, the usual case, without branches.
//
// A window takes four loads, three comparisons and a select each for value and index, and a vector holds several. The
// gradient of such windows is a select too: each input belongs to one window, and either won or did not.
//
// Limited by: memory bandwidth; other windows by their branches, as in cpu_naive.

#include <math.h>
#include <string.h>

#include "ops/clones.h"
#include "ops/maxpool2d/maxpool2d.h"
#include "ops/pool2d.h"
#include "ops/vector_math.h"

// A later value replaces the best so far if it is larger or NaN.
static inline bool replaces(float value, float best)
{
    return (value > best) | (value != value);
}

// One row of windows: `top` and the row below it; the first element of `top` has index `first`.
HEDDLE_CLONES static void pool_rows(const float *restrict top, int w, int32_t first, int out_w, float *restrict output,
                                    int32_t *restrict index)
{
    const float *bottom = top + w;
    for (int x = 0; x < out_w; x++) {
        float a = top[2 * x], b = top[2 * x + 1], c = bottom[2 * x], d = bottom[2 * x + 1];
        int32_t place = first + 2 * x;
        float best = a;
        int32_t won = place;
        won = replaces(b, best) ? place + 1 : won;
        best = replaces(b, best) ? b : best;
        won = replaces(c, best) ? place + w : won;
        best = replaces(c, best) ? c : best;
        won = replaces(d, best) ? place + w + 1 : won;
        best = replaces(d, best) ? d : best;
        output[x] = best;
        index[x] = won;
    }
}

static void pool_window(const heddle_pool2d_shape *shape, const float *plane, heddle_window window, float *value,
                        int32_t *index)
{
    int32_t won = window.h_begin * shape->w + window.w_begin;
    float best = plane[won];
    for (int h = window.h_begin; h < window.h_end; h++)
        for (int32_t i = h * shape->w + window.w_begin; i < h * shape->w + window.w_end; i++)
            if (replaces(plane[i], best)) {
                best = plane[i];
                won = i;
            }
    *value = best;
    *index = won;
}

static void forward_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_pool2d_shape *shape = call->shape;
    int out_h = heddle_pool2d_out_h(shape), out_w = heddle_pool2d_out_w(shape);
    const float *plane = (const float *)call->input[0] + begin * shape->h * shape->w;
    float *output = (float *)call->output[0] + begin * out_h * out_w;
    int32_t *index = (int32_t *)call->output[1] + begin * out_h * out_w;
    for (size_t p = begin; p < end; p++, plane += (size_t)shape->h * shape->w)
        for (int y = 0; y < out_h; y++, output += out_w, index += out_w)
            if (heddle_pool2d_is_two_by_two(shape))
                pool_rows(plane + (size_t)2 * y * shape->w, shape->w, 2 * y * shape->w, out_w, output, index);
            else
                for (int x = 0; x < out_w; x++)
                    pool_window(shape, plane, heddle_pool2d_window(shape, y, x), &output[x], &index[x]);
}

heddle_status heddle_maxpool2d_forward_cpu_planes(const heddle_call *call)
{
    return heddle_pool2d_for_planes(call, forward_planes);
}

// `value` if the condition holds, else 0, written so that no compiler makes a branch of it.
static inline float only_if(bool condition, float value)
{
    return heddle_bits_float(heddle_float_bits(value) & -(uint32_t)condition);
}

// The reverse of pool_rows. The caller handles columns beyond the windows.
HEDDLE_CLONES static void unpool_rows(const int32_t *restrict index, const float *restrict grad_output, int out_w,
                                      int32_t first, int w, float *restrict grad_top, float *restrict grad_bottom)
{
    for (int x = 0; x < out_w; x++) {
        int32_t won = index[x] - (first + 2 * x);
        float grad = grad_output[x];
        grad_top[2 * x] = only_if(won == 0, grad);
        grad_top[2 * x + 1] = only_if(won == 1, grad);
        grad_bottom[2 * x] = only_if(won == w, grad);
        grad_bottom[2 * x + 1] = only_if(won == w + 1, grad);
    }
}

static void unpool_plane_two_by_two(const heddle_pool2d_shape *shape, const int32_t *index, const float *grad_output,
                                    float *grad_plane)
{
    int out_h = shape->h / 2, out_w = shape->w / 2;
    for (int y = 0; y < out_h; y++) {
        float *grad_top = grad_plane + (size_t)2 * y * shape->w, *grad_bottom = grad_top + shape->w;
        unpool_rows(index + (size_t)y * out_w, grad_output + (size_t)y * out_w, out_w, 2 * y * shape->w, shape->w,
                    grad_top, grad_bottom);
    }
    heddle_pool2d_clear_rest(shape, grad_plane);
}

static void backward_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_pool2d_shape *shape = call->shape;
    size_t plane_size = (size_t)shape->h * shape->w;
    size_t outputs = (size_t)heddle_pool2d_out_h(shape) * heddle_pool2d_out_w(shape);
    for (size_t p = begin; p < end; p++) {
        const int32_t *index = (const int32_t *)call->input[0] + p * outputs;
        const float *grad_output = (const float *)call->input[1] + p * outputs;
        float *grad_plane = (float *)call->output[0] + p * plane_size;
        if (heddle_pool2d_is_two_by_two(shape)) {
            unpool_plane_two_by_two(shape, index, grad_output, grad_plane);
            continue;
        }
        memset(grad_plane, 0, plane_size * sizeof *grad_plane);
        for (size_t i = 0; i < outputs; i++)
            grad_plane[index[i]] += grad_output[i];
    }
}

heddle_status heddle_maxpool2d_backward_cpu_planes(const heddle_call *call)
{
    return heddle_pool2d_for_planes(call, backward_planes);
}
