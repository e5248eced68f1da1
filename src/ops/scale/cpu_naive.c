// scale_unless_one, first rung: one element after another, one thread.
//
// Limited by: one thread's share of the memory bandwidth.

#include "ops/scale/scale.h"

heddle_status heddle_scale_unless_one_cpu_naive(const heddle_call *call)
{
    float factor = *(const float *)call->input[0], *values = call->output[0];
    for (int i = 0; factor != 1 && i < ((const heddle_elements_shape *)call->shape)->n; i++)
        values[i] *= factor;
    return HEDDLE_OK;
}
