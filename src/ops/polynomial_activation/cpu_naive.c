// polynomial_activation, first rung: the sum of the terms as it is written, one element after another.
//
// Limited by: the multiplications that make each power anew, and latency: one element at a time.

#include "ops/polynomial_activation/polynomial_activation.h"

static float sum_of_terms(const float *terms, int count, float x)
{
    float sum = 0, power = 1;
    for (int i = 0; i < count; i++) {
        sum += terms[i] * power;
        power *= x;
    }
    return sum;
}

heddle_status heddle_polynomial_activation_forward_cpu_naive(const heddle_call *call)
{
    const heddle_polynomial_activation_shape *shape = call->shape;
    const heddle_polynomial_terms terms = heddle_polynomial_terms_of(shape);
    const float *input = call->input[0];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = sum_of_terms(terms.value, shape->degree + 1, input[i]);
    return HEDDLE_OK;
}

heddle_status heddle_polynomial_activation_backward_cpu_naive(const heddle_call *call)
{
    const heddle_polynomial_activation_shape *shape = call->shape;
    const heddle_polynomial_terms terms = heddle_polynomial_terms_of(shape);
    const float *input = call->input[0], *grad_output = call->input[1];
    float *grad_input = call->output[0];
    for (int i = 0; i < shape->n; i++)
        grad_input[i] = sum_of_terms(terms.slope, shape->degree, input[i]) * grad_output[i];
    return HEDDLE_OK;
}
