// flatten: an image as one row of features. The numbers stay where they are.

#include "nn/layers/type.h"

static heddle_status infer(heddle_layer *layer)
{
    layer->out_rank = 1;
    return heddle_infer_elements(layer, &layer->out[0]);
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
