// maxpool2d, first rung: one window at a time, one thread.
//
// Limited by: one branch per element. cpu_planes spreads planes over the threads and handles 2x2 windows by vectors.

#include <math.h>

#include "ops/maxpool2d/maxpool2d.h"
#include "ops/pool2d.h"

// The first of the largest values wins, and NaN wins over everything, as in PyTorch.
static void largest(const heddle_pool2d_shape *shape, const float *plane, heddle_window window, float *value,
                    int32_t *index)
{
    *index = window.h_begin * shape->w + window.w_begin;
    *value = plane[*index];
    for (int h = window.h_begin; h < window.h_end; h++)
        for (int w = window.w_begin; w < window.w_end; w++) {
            int32_t place = h * shape->w + w;
            if (plane[place] > *value || isnan(plane[place])) {
                *value = plane[place];
                *index = place;
            }
        }
}

heddle_status heddle_maxpool2d_forward_cpu_naive(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = call->shape;
    const float *plane = call->input[0];
    float *output = call->output[0];
    int32_t *index = call->output[1];
    int out_h = heddle_pool2d_out_h(shape), out_w = heddle_pool2d_out_w(shape);
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++) {
        for (int y = 0; y < out_h; y++)
            for (int x = 0; x < out_w; x++)
                largest(shape, plane, heddle_pool2d_window(shape, y, x), output++, index++);
        plane += (size_t)shape->h * shape->w;
    }
    return HEDDLE_OK;
}

heddle_status heddle_maxpool2d_backward_cpu_naive(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = call->shape;
    const int32_t *index = call->input[0];
    const float *grad_output = call->input[1];
    float *grad_plane = call->output[0];
    size_t plane_size = (size_t)shape->h * shape->w;
    size_t outputs = (size_t)heddle_pool2d_out_h(shape) * heddle_pool2d_out_w(shape);
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++) {
        for (size_t i = 0; i < plane_size; i++)
            grad_plane[i] = 0;
        for (size_t i = 0; i < outputs; i++)
            grad_plane[*index++] += *grad_output++;
        grad_plane += plane_size;
    }
    return HEDDLE_OK;
}
