// dropout, first rung: one random word per element, drawn one after the other, one thread.
//
// Limited by: Philox: a whole block is computed for each of its four words. cpu_vectorised uses all four, several
// blocks at a time.

#include "heddle/random.h"
#include "ops/dropout/dropout.h"

heddle_status heddle_dropout_forward_cpu_naive(const heddle_call *call)
{
    const heddle_dropout_shape *shape = call->shape;
    const float *input = call->input[0];
    const int64_t *state = call->input[1];
    float *output = call->output[0];
    uint8_t *mask = call->output[1];
    heddle_random random = {(uint64_t)state[0], (uint64_t)state[1], (uint64_t)state[2]};
    for (int i = 0; i < shape->n; i++) {
        mask[i] = heddle_random_uniform(&random) >= shape->probability;
        output[i] = mask[i] ? input[i] * heddle_dropout_scale(shape) : 0.0f;
    }
    return HEDDLE_OK;
}

heddle_status heddle_dropout_backward_cpu_naive(const heddle_call *call)
{
    const heddle_dropout_shape *shape = call->shape;
    const uint8_t *mask = call->input[0];
    const float *grad_output = call->input[1];
    float *grad_input = call->output[0];
    for (int i = 0; i < shape->n; i++)
        grad_input[i] = mask[i] ? grad_output[i] * heddle_dropout_scale(shape) : 0.0f;
    return HEDDLE_OK;
}
