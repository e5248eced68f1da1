// Activations: functions of one element. Each is an operator of its own name.

#include <stdio.h>

#include "nn/layers/type.h"

enum { OP_NAME = 32 };

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    char op[OP_NAME];
    snprintf(op, sizeof op, "%s_forward", layer->type->name);
    heddle_elements_shape shape;
    HEDDLE_TRY(heddle_lower_elements(lowering, layer->in_rank, layer->in, &shape.n));
    heddle_binding bound[] = {{"input", input}};
    HEDDLE_TRY(heddle_lower_op(lowering, op, &shape, bound, 1, output));
    return heddle_lower_reshape(lowering, layer, output);
}

#define ACTIVATION(type, text)                                                                                         \
    const heddle_layer_type heddle_layer_##type = {                                                                    \
        .name = #type,                                                                                                 \
        .short_name = #type,                                                                                           \
        .summary = (text),                                                                                             \
        .infer = heddle_infer_same,                                                                                    \
        .lower = lower,                                                                                                \
    };
ACTIVATION(relu, "max(x, 0)")
ACTIVATION(tanh, "hyperbolic tangent")
ACTIVATION(sigmoid, "1 / (1 + exp(-x))")
ACTIVATION(elu, "x, or exp(x) - 1 below zero")
ACTIVATION(gelu, "x times the normal distribution function of x")
ACTIVATION(softplus, "log(1 + exp(x))")
ACTIVATION(swish, "x times its sigmoid")
