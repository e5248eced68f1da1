// globalavgpool, first rung: one plane at a time, one thread.
//
// Limited by: sums in which every addition waits for the one before.

#include "heddle/ops.h"
#include "ops/globalavgpool/globalavgpool.h"

heddle_status heddle_globalavgpool_forward_cpu_naive(const heddle_call *call)
{
    const heddle_globalavgpool_shape *shape = call->shape;
    const float *plane = call->input[0];
    float *output = call->output[0];
    size_t pixels = (size_t)shape->h * shape->w;
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++, plane += pixels) {
        float sum = 0;
        for (size_t i = 0; i < pixels; i++)
            sum += plane[i];
        output[p] = sum / (float)pixels;
    }
    return HEDDLE_OK;
}

heddle_status heddle_globalavgpool_backward_cpu_naive(const heddle_call *call)
{
    const heddle_globalavgpool_shape *shape = call->shape;
    const float *grad_output = call->input[0];
    float *grad_plane = call->output[0];
    size_t pixels = (size_t)shape->h * shape->w;
    for (size_t p = 0; p < (size_t)shape->n * shape->c; p++, grad_plane += pixels)
        for (size_t i = 0; i < pixels; i++)
            grad_plane[i] = grad_output[p] / (float)pixels;
    return HEDDLE_OK;
}
