// sum and mean, first rung: one running sum, one thread. It is a double, so that a long sum keeps its small terms.
//
// Limited by: the latency of one addition per element. cpu_pieces keeps several sums at a time on every thread.

#include "heddle/ops.h"
#include "ops/reduction/reduction.h"

static double sum_of(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *input = call->input[0];
    double sum = 0;
    for (int i = 0; i < shape->n; i++)
        sum += input[i];
    return sum;
}

static void spread(const heddle_call *call, float value)
{
    const heddle_elements_shape *shape = call->shape;
    float *grad_input = call->output[0];
    for (int i = 0; i < shape->n; i++)
        grad_input[i] = value;
}

heddle_status heddle_sum_forward_cpu_naive(const heddle_call *call)
{
    *(float *)call->output[0] = (float)sum_of(call);
    return HEDDLE_OK;
}

heddle_status heddle_mean_forward_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    *(float *)call->output[0] = (float)(sum_of(call) / shape->n);
    return HEDDLE_OK;
}

heddle_status heddle_sum_backward_cpu_naive(const heddle_call *call)
{
    spread(call, *(const float *)call->input[0]);
    return HEDDLE_OK;
}

heddle_status heddle_mean_backward_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    spread(call, *(const float *)call->input[0] / (float)shape->n);
    return HEDDLE_OK;
}
