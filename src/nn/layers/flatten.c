// flatten: an image as one row of features. The numbers stay where they are.

#include <limits.h>

#include "nn/layers/type.h"

static heddle_status infer(heddle_layer *layer)
{
    layer->out_rank = 1;
    layer->out[0] = 1;
    for (int i = 0; i < layer->in_rank; i++)
        if (__builtin_mul_overflow(layer->out[0], layer->in[i], &layer->out[0]))
            return heddle_fail(HEDDLE_INVALID, "images of %d×%d×%d have more than %d features; pool them first",
                               layer->in[0], layer->in[1], layer->in[2], INT_MAX);
    return HEDDLE_OK;
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    *output = input;
    return heddle_lower_reshape(lowering, layer, output);
}

const heddle_layer_type heddle_layer_flatten = {
    .name = "flatten",
    .short_name = "flatten",
    .summary = "an image as one row of features",
    .infer = infer,
    .lower = lower,
};
