// polynomial, first rung: one element after another, one thread.
//
// Limited by: latency. A round needs the result of the one before it, some cycles later, and the units are idle
// meanwhile.

#include "ops/polynomial/polynomial.h"

heddle_status heddle_polynomial_cpu_naive(const heddle_call *call)
{
    const heddle_polynomial_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++) {
        float value = input[i];
        for (int round = 0; round < shape->rounds; round++)
            value = value * shape->factor + shape->addend;
        output[i] = value;
    }
    return HEDDLE_OK;
}
