// select, first rung: one element at a time, one thread.
//
// Limited by: one branch per element, which nobody can predict where about half of them are selected.

#include "heddle/ops.h"
#include "ops/select/select.h"

heddle_status heddle_select_cpu_naive(const heddle_call *call)
{
    const heddle_select_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    int32_t *count = call->output[1];
    int selected = 0;
    for (int i = 0; i < shape->n; i++)
        if (input[i] > shape->threshold)
            output[selected++] = input[i];
    for (int i = selected; i < shape->n; i++)
        output[i] = 0;
    *count = selected;
    return HEDDLE_OK;
}
