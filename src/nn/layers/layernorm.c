// layernorm: each sample, all of its features or channels and pixels together, brought to mean 0 and variance 1, then
// scaled and shifted element by element.

#include "nn/layers/type.h"

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_FLOAT(epsilon, 1e-12, 1, 1e-5, "added to the variance")},
    {HEDDLE_LAYER_DECAY},
};

static heddle_status infer(heddle_layer *layer)
{
    int elements;
    HEDDLE_TRY(heddle_infer_elements(layer, &elements));
    return heddle_infer_same(layer);
}

static int parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
{
    specs[0] = heddle_parameter_make(layer, "weight", layer->in_rank, layer->in);
    specs[0].start = HEDDLE_START_ONE;
    specs[1] = heddle_parameter_make(layer, "bias", layer->in_rank, layer->in);
    specs[1].start = HEDDLE_START_ZERO;
    return 2;
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    heddle_layernorm_shape shape = {.rows = lowering->batch, .epsilon = layer->epsilon};
    HEDDLE_TRY(heddle_infer_elements(layer, &shape.cols));
    heddle_binding bound[] = {{"input", input},
                              {"gamma", heddle_lower_parameter(lowering, layer, "weight")},
                              {"beta", heddle_lower_parameter(lowering, layer, "bias")}};
    HEDDLE_TRY(heddle_lower_op(lowering, "layernorm_forward", &shape, bound, 3, output));
    return heddle_lower_reshape(lowering, layer, output);
}

const heddle_layer_type heddle_layer_layernorm = {
    .name = "layernorm",
    .short_name = "layernorm",
    .summary = "normalisation over all elements of a sample",
    HEDDLE_LAYER_SETTINGS(settings),
    .infer = infer,
    .parameters = parameters,
    .lower = lower,
};
