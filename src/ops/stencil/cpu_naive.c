// shift and stencil, first rung: one element at a time, one thread.
//
// Limited by: the memory bandwidth of one core; the stencil by 2 radius additions per element.

#include "heddle/ops.h"
#include "ops/stencil/stencil.h"

heddle_status heddle_shift_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = input[i + 1 < shape->n ? i + 1 : 0];
    return HEDDLE_OK;
}

heddle_status heddle_stencil_cpu_naive(const heddle_call *call)
{
    const heddle_stencil_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++) {
        int first = i > shape->radius ? i - shape->radius : 0;
        int last = shape->n - 1 - i > shape->radius ? i + shape->radius : shape->n - 1;
        float sum = 0;
        for (int j = first; j <= last; j++)
            sum += input[j];
        output[i] = sum;
    }
    return HEDDLE_OK;
}
