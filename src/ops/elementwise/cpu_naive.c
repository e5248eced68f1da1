// add and multiply, first rung: one element at a time, one thread.
//
// Limited by: the memory bandwidth of one core.

#include "heddle/ops.h"
#include "ops/elementwise/elementwise.h"

heddle_status heddle_add_forward_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *a = call->input[0], *b = call->input[1];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = a[i] + b[i];
    return HEDDLE_OK;
}

heddle_status heddle_add_backward_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *grad_output = call->input[0];
    float *grad_a = call->output[0], *grad_b = call->output[1];
    for (int i = 0; grad_a && i < shape->n; i++)
        grad_a[i] = grad_output[i];
    for (int i = 0; grad_b && i < shape->n; i++)
        grad_b[i] = grad_output[i];
    return HEDDLE_OK;
}

heddle_status heddle_multiply_forward_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *a = call->input[0], *b = call->input[1];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = a[i] * b[i];
    return HEDDLE_OK;
}

heddle_status heddle_multiply_backward_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *a = call->input[0], *b = call->input[1], *grad_output = call->input[2];
    float *grad_a = call->output[0], *grad_b = call->output[1];
    for (int i = 0; grad_a && i < shape->n; i++)
        grad_a[i] = grad_output[i] * b[i];
    for (int i = 0; grad_b && i < shape->n; i++)
        grad_b[i] = grad_output[i] * a[i];
    return HEDDLE_OK;
}
