// Parameters with their moments and the optimiser's step on them, one or four at a time: shared by the kernels that
// make steps, so that all of them give the same bits.
#pragma once

#include "ops/optimizer/step.h"

// Which of rows_weights, rows_collect and rows_update a kernel is.
enum job_kind { WEIGHTS, COLLECT, UPDATE };

struct update_arrays {
    float *parameters, *first_moment, *second_moment;
    float unit; // factor of a gradient's sum: removes the gradients' scale
};

// One parameter and its moments: loaded before its gradient is known, so that no load waits for another.
template <job_kind Kind, int Optimizer> struct update_value {
    float value, first, second;

    __device__ void load(const update_arrays &on, size_t at)
    {
        value = Kind == COLLECT ? 0 : on.parameters[at];
        first = Kind == UPDATE && Optimizer >= 1 ? on.first_moment[at] : 0;
        second = Kind == UPDATE && Optimizer == 2 ? on.second_moment[at] : 0;
    }
    __device__ void step(const update_arrays &on, float sum, const float *hyper)
    {
        const float gradient = sum * on.unit;
        if (Kind == COLLECT)
            value = gradient;
        if (Kind != UPDATE)
            return;
        if (Optimizer == 0)
            sgd_step(gradient, hyper, &value);
        else if (Optimizer == 1)
            momentum_step(gradient, hyper, &value, &first);
        else
            adamw_step(gradient, hyper, &value, &first, &second);
    }
    __device__ void store(const update_arrays &on, size_t at) const
    {
        if (Kind != WEIGHTS)
            on.parameters[at] = value;
        if (Kind == UPDATE && Optimizer >= 1)
            on.first_moment[at] = first;
        if (Kind == UPDATE && Optimizer == 2)
            on.second_moment[at] = second;
    }
};

// The same for four parameters in one access.
template <job_kind Kind, int Optimizer> struct update_four {
    float4 value, first, second;

    __device__ void load(const update_arrays &on, size_t at)
    {
        const float4 none = {};
        value = Kind == COLLECT ? none : *(const float4 *)(on.parameters + at);
        first = Kind == UPDATE && Optimizer >= 1 ? *(const float4 *)(on.first_moment + at) : none;
        second = Kind == UPDATE && Optimizer == 2 ? *(const float4 *)(on.second_moment + at) : none;
    }
    __device__ void step(const update_arrays &on, float4 sum, const float *hyper)
    {
        update_value<Kind, Optimizer> one[4] = {{value.x, first.x, second.x},
                                                {value.y, first.y, second.y},
                                                {value.z, first.z, second.z},
                                                {value.w, first.w, second.w}};
        one[0].step(on, sum.x, hyper), one[1].step(on, sum.y, hyper);
        one[2].step(on, sum.z, hyper), one[3].step(on, sum.w, hyper);
        value = make_float4(one[0].value, one[1].value, one[2].value, one[3].value);
        first = make_float4(one[0].first, one[1].first, one[2].first, one[3].first);
        second = make_float4(one[0].second, one[1].second, one[2].second, one[3].second);
    }
    __device__ void store(const update_arrays &on, size_t at) const
    {
        if (Kind != WEIGHTS)
            *(float4 *)(on.parameters + at) = value;
        if (Kind == UPDATE && Optimizer >= 1)
            *(float4 *)(on.first_moment + at) = first;
        if (Kind == UPDATE && Optimizer == 2)
            *(float4 *)(on.second_moment + at) = second;
    }
};
