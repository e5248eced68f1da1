// saxpy, first rung: one element at a time, one thread.
//
// Limited by: the memory bandwidth of one core.

#include "heddle/ops.h"
#include "ops/saxpy/saxpy.h"

heddle_status heddle_saxpy_cpu_naive(const heddle_call *call)
{
    const heddle_saxpy_shape *shape = call->shape;
    const float *x = call->input[0];
    float *y = call->output[0];
    for (int i = 0; i < shape->n; i++)
        y[i] += shape->alpha * x[i];
    return HEDDLE_OK;
}
