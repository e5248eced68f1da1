// dropout: zeroes elements at random while training; nothing otherwise.

#include "nn/layers/type.h"

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_FLOAT(probability, 0, 0.99, 0.5, "how often an element is zeroed in training")},
};

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    if (!lowering->training) {
        *output = input;
        return HEDDLE_OK;
    }
    heddle_dropout_shape shape = {.probability = layer->probability};
    heddle_value random;
    HEDDLE_TRY(heddle_lower_elements(lowering, layer->in_rank, layer->in, &shape.n));
    HEDDLE_TRY(heddle_lower_random(lowering, shape.n, &random));
    heddle_binding bound[] = {{"input", input}, {"random", random}};
    HEDDLE_TRY(heddle_lower_op(lowering, "dropout_forward", &shape, bound, 2, output));
    return heddle_lower_reshape(lowering, layer, output);
}

const heddle_layer_type heddle_layer_dropout = {
    .name = "dropout",
    .short_name = "dropout",
    .summary = "zeroes elements at random while training",
    HEDDLE_LAYER_SETTINGS(settings),
    .infer = heddle_infer_same,
    .lower = lower,
};
