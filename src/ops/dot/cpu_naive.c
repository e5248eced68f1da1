// dot, first rung: one running sum, one thread. It is a double, so that a long sum keeps its small terms.
//
// Limited by: the latency of one addition per element. cpu_pieces keeps several sums at a time on every thread.

#include "heddle/ops.h"
#include "ops/dot/dot.h"

heddle_status heddle_dot_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *x = call->input[0], *y = call->input[1];
    double sum = 0;
    for (int i = 0; i < shape->n; i++)
        sum += (double)x[i] * y[i];
    *(float *)call->output[0] = (float)sum;
    return HEDDLE_OK;
}
