// step_end, the cpu's rung.
//
// Limited by: nothing: a handful of numbers.

#include <math.h>

#include "ops/step_end/step_end.h"

// The row that a hyper-parameter of the step after `steps` steps is taken from.
static int64_t schedule_row(int hyper, int64_t steps, int64_t left_out, int length)
{
    bool correction = hyper == HEDDLE_HYPER_CORRECTION1 || hyper == HEDDLE_HYPER_CORRECTION2;
    int64_t row = correction ? steps - left_out : steps;
    return row < 0 ? 0 : row < length ? row : length - 1;
}

heddle_status heddle_step_end_cpu_naive(const heddle_call *call)
{
    const heddle_step_end_shape *shape = call->shape;
    const float *loss = call->input[0], *schedule = call->input[2], *grad = call->input[3];
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
    if (grad && isnan(*grad))
        tally[4] += 1;
    int64_t left_out = grad ? (int64_t)tally[4] : 0;
    for (int i = 0; schedule && hyper && i < HEDDLE_HYPER_COUNT; i++)
        hyper[i] = schedule[schedule_row(i, cursor[1], left_out, shape->length) * HEDDLE_HYPER_COUNT + i];
    return HEDDLE_OK;
}
