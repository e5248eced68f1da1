// avgpool2d, second rung: planes spread over the threads; adjacent 2x2 windows, the usual case, by vectors.
//
// Limited by: memory bandwidth; other windows by their short loops, as in cpu_naive.

#include <string.h>

#include "ops/avgpool2d/avgpool2d.h"
#include "ops/clones.h"
#include "ops/pool2d.h"

HEDDLE_CLONES static void average_rows(const float *restrict top, int w, int out_w, float *restrict output)
{
    const float *bottom = top + w;
    for (int x = 0; x < out_w; x++)
        output[x] = 0.25f * (top[2 * x] + top[2 * x + 1] + bottom[2 * x] + bottom[2 * x + 1]);
}

static float average_window(const heddle_pool2d_shape *shape, const float *plane, heddle_window window)
{
    float sum = 0;
    for (int h = window.h_begin; h < window.h_end; h++)
        for (int w = window.w_begin; w < window.w_end; w++)
            sum += plane[(size_t)h * shape->w + w];
    return sum / (float)heddle_window_size(window);
}

static void forward_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_pool2d_shape *shape = call->shape;
    int out_h = heddle_pool2d_out_h(shape), out_w = heddle_pool2d_out_w(shape);
    const float *plane = (const float *)call->input[0] + begin * shape->h * shape->w;
    float *output = (float *)call->output[0] + begin * out_h * out_w;
    for (size_t p = begin; p < end; p++, plane += (size_t)shape->h * shape->w)
        for (int y = 0; y < out_h; y++, output += out_w)
            if (heddle_pool2d_is_two_by_two(shape))
                average_rows(plane + (size_t)2 * y * shape->w, shape->w, out_w, output);
            else
                for (int x = 0; x < out_w; x++)
                    output[x] = average_window(shape, plane, heddle_pool2d_window(shape, y, x));
}

heddle_status heddle_avgpool2d_forward_cpu_planes(const heddle_call *call)
{
    return heddle_pool2d_for_planes(call, forward_planes);
}

// Both rows of one row of windows. The caller handles columns beyond the windows.
HEDDLE_CLONES static void spread_rows(const float *restrict grad_output, int out_w, float *restrict grad_top,
                                      float *restrict grad_bottom)
{
    for (int x = 0; x < out_w; x++) {
        float share = 0.25f * grad_output[x];
        grad_top[2 * x] = share;
        grad_top[2 * x + 1] = share;
        grad_bottom[2 * x] = share;
        grad_bottom[2 * x + 1] = share;
    }
}

static void spread_plane_two_by_two(const heddle_pool2d_shape *shape, const float *grad_output, float *grad_plane)
{
    int out_h = shape->h / 2, out_w = shape->w / 2;
    for (int y = 0; y < out_h; y++) {
        float *grad_top = grad_plane + (size_t)2 * y * shape->w, *grad_bottom = grad_top + shape->w;
        spread_rows(grad_output + (size_t)y * out_w, out_w, grad_top, grad_bottom);
    }
    heddle_pool2d_clear_rest(shape, grad_plane);
}

static void spread_plane(const heddle_pool2d_shape *shape, const float *grad_output, float *grad_plane)
{
    memset(grad_plane, 0, (size_t)shape->h * shape->w * sizeof *grad_plane);
    for (int y = 0; y < heddle_pool2d_out_h(shape); y++)
        for (int x = 0; x < heddle_pool2d_out_w(shape); x++) {
            heddle_window window = heddle_pool2d_window(shape, y, x);
            float share = *grad_output++ / (float)heddle_window_size(window);
            for (int h = window.h_begin; h < window.h_end; h++)
                for (int w = window.w_begin; w < window.w_end; w++)
                    grad_plane[(size_t)h * shape->w + w] += share;
        }
}

static void backward_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_pool2d_shape *shape = call->shape;
    size_t outputs = (size_t)heddle_pool2d_out_h(shape) * heddle_pool2d_out_w(shape);
    for (size_t p = begin; p < end; p++) {
        const float *grad_output = (const float *)call->input[0] + p * outputs;
        float *grad_plane = (float *)call->output[0] + p * shape->h * shape->w;
        if (heddle_pool2d_is_two_by_two(shape))
            spread_plane_two_by_two(shape, grad_output, grad_plane);
        else
            spread_plane(shape, grad_output, grad_plane);
    }
}

heddle_status heddle_avgpool2d_backward_cpu_planes(const heddle_call *call)
{
    return heddle_pool2d_for_planes(call, backward_planes);
}
