// Optimisers, first rung: one parameter at a time, one thread, as in the papers.
//
// Limited by: the memory bandwidth of one core; adamw by its square root and divisions.

#include <math.h>

#include "heddle/ops.h"
#include "ops/optimizer/optimizer.h"

static float decay_of(const heddle_call *call, int index)
{
    const heddle_update_shape *shape = call->shape;
    return index < shape->n - shape->undecayed ? ((const float *)call->input[1])[HEDDLE_HYPER_WEIGHT_DECAY] : 0.0f;
}

heddle_status heddle_sgd_update_cpu_naive(const heddle_call *call)
{
    const heddle_update_shape *shape = call->shape;
    const float *grad = call->input[0], *hyper = call->input[1];
    float *parameter = call->output[0];
    for (int i = 0; i < shape->n; i++) {
        if (isnan(grad[i]))
            continue;
        float slope = grad[i] + decay_of(call, i) * parameter[i];
        parameter[i] -= hyper[HEDDLE_HYPER_LEARNING_RATE] * slope;
    }
    return HEDDLE_OK;
}

heddle_status heddle_momentum_update_cpu_naive(const heddle_call *call)
{
    const heddle_update_shape *shape = call->shape;
    const float *grad = call->input[0], *hyper = call->input[1];
    float *parameter = call->output[0], *velocity = call->output[1];
    for (int i = 0; i < shape->n; i++) {
        if (isnan(grad[i]))
            continue;
        float slope = grad[i] + decay_of(call, i) * parameter[i];
        velocity[i] = hyper[HEDDLE_HYPER_MOMENTUM] * velocity[i] + slope;
        parameter[i] -= hyper[HEDDLE_HYPER_LEARNING_RATE] * velocity[i];
    }
    return HEDDLE_OK;
}

heddle_status heddle_adamw_update_cpu_naive(const heddle_call *call)
{
    const heddle_update_shape *shape = call->shape;
    const float *grad = call->input[0], *hyper = call->input[1];
    float *parameter = call->output[0], *first_moment = call->output[1], *second_moment = call->output[2];
    float rate = hyper[HEDDLE_HYPER_LEARNING_RATE], beta1 = hyper[HEDDLE_HYPER_MOMENTUM];
    float beta2 = hyper[HEDDLE_HYPER_BETA2];
    for (int i = 0; i < shape->n; i++) {
        if (isnan(grad[i]))
            continue;
        first_moment[i] = beta1 * first_moment[i] + (1.0f - beta1) * grad[i];
        second_moment[i] = beta2 * second_moment[i] + (1.0f - beta2) * grad[i] * grad[i];
        float mean = first_moment[i] / hyper[HEDDLE_HYPER_CORRECTION1];
        float square = second_moment[i] / hyper[HEDDLE_HYPER_CORRECTION2];
        parameter[i] -= rate * decay_of(call, i) * parameter[i];
        parameter[i] -= rate * mean / (sqrtf(square) + hyper[HEDDLE_HYPER_EPSILON]);
    }
    return HEDDLE_OK;
}
