// step_end, the cpu's rung.
//
// Limited by: nothing: a handful of numbers.

#include <math.h>
#include <string.h>

#include "ops/step_end/step_end.h"

heddle_status heddle_step_end_cpu_naive(const heddle_call *call)
{
    const heddle_step_end_shape *shape = call->shape;
    const float *loss = call->input[0], *schedule = call->input[2];
    const int32_t *correct = call->input[1];
    int64_t *cursor = call->output[0];
    double *tally = call->output[1];
    float *hyper = call->output[2];
    if (isfinite(*loss)) {
        tally[0] += (double)*loss * shape->n;
        tally[1] += *correct;
    } else {
        tally[2] += 1;
        tally[3] = (double)*loss;
    }
    cursor[0] += shape->n;
    cursor[1] += 1;
    int64_t row = cursor[1] < shape->length ? cursor[1] : shape->length - 1;
    if (schedule && hyper)
        memcpy(hyper, schedule + row * HEDDLE_HYPER_COUNT, HEDDLE_HYPER_COUNT * sizeof *hyper);
    return HEDDLE_OK;
}
