// What the rungs of rows_linear_step share: their operands, and the step of one weight or of four.
#pragma once

#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_linear_step/rows_linear_step.h"
#include "ops/rows_update/value.h"

typedef heddle_rows_linear_step_shape step_shape;

struct step_operands {
    const void *grad_output, *input;
    const float *hyper, *grad_bias;
    void *copy;
    float *bias_copy;
    update_arrays weight, bias;
    bool aligned; // rows of both operands begin at multiples of 16 bytes
    bool vectors; // so do four weights, and their copies at multiples of 8
};

static inline update_arrays step_arrays_of(const heddle_call *call, int parameter, int moment)
{
    update_arrays arrays = {};
    arrays.parameters = (float *)call->output[parameter];
    arrays.first_moment = (float *)call->output[moment];
    arrays.second_moment = (float *)call->output[moment + 1];
    arrays.unit = ldexpf(1.0f, -((const step_shape *)call->shape)->scale);
    return arrays;
}

static inline step_operands step_operands_of(const heddle_call *call)
{
    step_operands on = {};
    on.grad_output = call->input[0];
    on.input = call->input[1];
    on.hyper = (const float *)call->input[2];
    on.grad_bias = (const float *)call->input[3];
    on.copy = call->output[HEDDLE_LINEAR_STEP_COPY];
    on.bias_copy = (float *)call->output[HEDDLE_LINEAR_STEP_BIAS_COPY];
    on.weight = step_arrays_of(call, HEDDLE_LINEAR_STEP_WEIGHT, HEDDLE_LINEAR_STEP_FIRST_MOMENT);
    on.bias = step_arrays_of(call, HEDDLE_LINEAR_STEP_BIAS, HEDDLE_LINEAR_STEP_BIAS_FIRST_MOMENT);
    on.aligned = heddle_aligned16(on.grad_output) && heddle_aligned16(on.input);
    // Rows of the copy have a multiple of 8 columns: all begin as aligned as the first.
    on.vectors = ((const step_shape *)call->shape)->inputs % 4 == 0 && heddle_aligned16(on.copy) &&
                 heddle_aligned16(on.weight.parameters) && heddle_aligned16(on.weight.first_moment) &&
                 heddle_aligned16(on.weight.second_moment);
    return on;
}

// The step of one weight or bias.
template <int Optimizer>
__device__ static float step_one(const update_arrays &on, size_t at, float sum, const float *hyper)
{
    update_value<UPDATE, Optimizer> one;
    one.load(on, at);
    one.step(on, sum, hyper);
    one.store(on, at);
    return one.value;
}

template <int Optimizer>
__device__ static void step_bias_one(const step_operands &on, int row, float sum, const float *hyper)
{
    const float value = step_one<Optimizer>(on.bias, row, sum, hyper);
    if (on.bias_copy)
        on.bias_copy[row] = value;
}
