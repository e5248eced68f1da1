// The activations: one list for tables, references and rungs.
#pragma once

#include "heddle/op.h"

// Calls MACRO(name) for each activation.
#define HEDDLE_ACTIVATIONS(MACRO)                                                                                      \
    MACRO(relu)                                                                                                        \
    MACRO(tanh)                                                                                                        \
    MACRO(sigmoid)                                                                                                     \
    MACRO(elu)                                                                                                         \
    MACRO(gelu)                                                                                                        \
    MACRO(softplus)                                                                                                    \
    MACRO(swish)

#define HEDDLE_DECLARE_ACTIVATION(name)                                                                                \
    extern const heddle_op heddle_op_##name##_forward, heddle_op_##name##_backward;                                    \
    heddle_status heddle_##name##_forward_cpu_naive(const heddle_call *call);                                          \
    heddle_status heddle_##name##_backward_cpu_naive(const heddle_call *call);                                         \
    heddle_status heddle_##name##_forward_cpu_vectorised(const heddle_call *call);                                     \
    heddle_status heddle_##name##_backward_cpu_vectorised(const heddle_call *call);

HEDDLE_ACTIVATIONS(HEDDLE_DECLARE_ACTIVATION)
