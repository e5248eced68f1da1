// scan, first rung: one running sum, one thread.
//
// Limited by: the latency of one addition per element.

#include "heddle/ops.h"
#include "ops/scan/scan.h"

heddle_status heddle_scan_cpu_naive(const heddle_call *call)
{
    const heddle_elements_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    double sum = 0;
    for (int i = 0; i < shape->n; i++) {
        sum += input[i];
        output[i] = (float)sum;
    }
    return HEDDLE_OK;
}
