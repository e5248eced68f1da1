// One step of one parameter, for each optimiser: shared by the CUDA rungs. hyper: (HEDDLE_HYPER_COUNT); its weight
// decay applies if no other is given. A NaN gradient leaves the parameter and its states unchanged (see optimizer.c).
#pragma once

#include <cuda_runtime.h>

#include "heddle/ops.h"

__device__ static inline void sgd_step(float grad, const float *hyper, float decay, float *parameter)
{
    if (isnan(grad))
        return;
    float slope = grad + decay * *parameter;
    *parameter -= hyper[HEDDLE_HYPER_LEARNING_RATE] * slope;
}

__device__ static inline void momentum_step(float grad, const float *hyper, float decay, float *parameter,
                                            float *velocity)
{
    if (isnan(grad))
        return;
    float slope = grad + decay * *parameter;
    *velocity = hyper[HEDDLE_HYPER_MOMENTUM] * *velocity + slope;
    *parameter -= hyper[HEDDLE_HYPER_LEARNING_RATE] * *velocity;
}

__device__ static inline void adamw_step(float grad, const float *hyper, float decay, float *parameter,
                                         float *first_moment, float *second_moment)
{
    if (isnan(grad))
        return;
    float rate = hyper[HEDDLE_HYPER_LEARNING_RATE];
    float beta1 = hyper[HEDDLE_HYPER_MOMENTUM], beta2 = hyper[HEDDLE_HYPER_BETA2];
    *first_moment = beta1 * *first_moment + (1.0f - beta1) * grad;
    *second_moment = beta2 * *second_moment + (1.0f - beta2) * grad * grad;
    float mean = *first_moment / hyper[HEDDLE_HYPER_CORRECTION1];
    float square = *second_moment / hyper[HEDDLE_HYPER_CORRECTION2];
    *parameter -= rate * decay * *parameter;
    *parameter -= rate * mean / (sqrtf(square) + hyper[HEDDLE_HYPER_EPSILON]);
}

__device__ static inline void sgd_step(float grad, const float *hyper, float *parameter)
{
    sgd_step(grad, hyper, hyper[HEDDLE_HYPER_WEIGHT_DECAY], parameter);
}

__device__ static inline void momentum_step(float grad, const float *hyper, float *parameter, float *velocity)
{
    momentum_step(grad, hyper, hyper[HEDDLE_HYPER_WEIGHT_DECAY], parameter, velocity);
}

__device__ static inline void adamw_step(float grad, const float *hyper, float *parameter, float *first_moment,
                                         float *second_moment)
{
    adamw_step(grad, hyper, hyper[HEDDLE_HYPER_WEIGHT_DECAY], parameter, first_moment, second_moment);
}
