// polynomial_activation: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_polynomial_activation_forward, heddle_op_polynomial_activation_backward;

heddle_status heddle_polynomial_activation_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_polynomial_activation_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_polynomial_activation_forward_cpu_vectorised(const heddle_call *call);
heddle_status heddle_polynomial_activation_backward_cpu_vectorised(const heddle_call *call);

// The shape's coefficients as a table, zero above its degree, so that every degree is one loop of the same length.
typedef struct heddle_polynomial_terms {
    float value[HEDDLE_POLYNOMIAL_DEGREE + 1]; // of the polynomial
    float slope[HEDDLE_POLYNOMIAL_DEGREE + 1]; // of its derivative, one degree less
} heddle_polynomial_terms;

static inline heddle_polynomial_terms heddle_polynomial_terms_of(const heddle_polynomial_activation_shape *shape)
{
    const float given[] = {shape->c0, shape->c1, shape->c2, shape->c3, shape->c4, shape->c5, shape->c6, shape->c7};
    heddle_polynomial_terms terms = {{0}, {0}};
    for (int i = 0; i <= shape->degree; i++)
        terms.value[i] = given[i];
    for (int i = 1; i <= shape->degree; i++)
        terms.slope[i - 1] = (float)i * given[i];
    return terms;
}
