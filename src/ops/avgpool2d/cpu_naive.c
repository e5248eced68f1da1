// avgpool2d, first rung: one window at a time, one thread.
//
// Limited by: one division and two short loops per window. cpu_planes spreads planes over the threads and handles 2x2
// windows by vectors.

#include "ops/avgpool2d/avgpool2d.h"
#include "ops/pool2d.h"

heddle_status heddle_avgpool2d_forward_cpu_naive(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = call->shape;
    const float *plane = call->input[0];
    float *output = call->output[0];
    int out_h = heddle_pool2d_out_h(shape), out_w = heddle_pool2d_out_w(shape);
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++, plane += (size_t)shape->h * shape->w)
        for (int y = 0; y < out_h; y++)
            for (int x = 0; x < out_w; x++) {
                heddle_window window = heddle_pool2d_window(shape, y, x);
                float sum = 0;
                for (int h = window.h_begin; h < window.h_end; h++)
                    for (int w = window.w_begin; w < window.w_end; w++)
                        sum += plane[(size_t)h * shape->w + w];
                *output++ = sum / (float)heddle_window_size(window);
            }
    return HEDDLE_OK;
}

heddle_status heddle_avgpool2d_backward_cpu_naive(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = call->shape;
    const float *grad_output = call->input[0];
    float *grad_plane = call->output[0];
    int out_h = heddle_pool2d_out_h(shape), out_w = heddle_pool2d_out_w(shape);
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++, grad_plane += (size_t)shape->h * shape->w) {
        for (int i = 0; i < shape->h * shape->w; i++)
            grad_plane[i] = 0;
        for (int y = 0; y < out_h; y++)
            for (int x = 0; x < out_w; x++) {
                heddle_window window = heddle_pool2d_window(shape, y, x);
                float share = *grad_output++ / (float)heddle_window_size(window);
                for (int h = window.h_begin; h < window.h_end; h++)
                    for (int w = window.w_begin; w < window.w_end; w++)
                        grad_plane[(size_t)h * shape->w + w] += share;
            }
    }
    return HEDDLE_OK;
}
