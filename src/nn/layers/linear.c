// linear: every output is a weighted sum of all inputs.

#include "nn/layers/type.h"

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_SETTING(HEDDLE_SETTING_FEATURES, features, 1, HEDDLE_MOST_FEATURES, NAN,
                          "outputs, or \"classes\" for one per class")},
    {HEDDLE_LAYER_BIAS},
    {HEDDLE_LAYER_DECAY},
};

static heddle_status infer(heddle_layer *layer)
{
    layer->out_rank = 1;
    layer->out[0] = layer->features;
    return HEDDLE_OK;
}

static int parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
{
    int dims[] = {layer->features, layer->in[0]};
    return heddle_weight_and_bias(layer, 2, dims, specs);
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    heddle_linear_shape shape = {.n = lowering->batch, .in = layer->in[0], .out = layer->features};
    heddle_binding bound[] = {{"input", input},
                              {"weight", heddle_lower_parameter(lowering, layer, "weight")},
                              {"bias", heddle_lower_parameter(lowering, layer, "bias")}};
    return heddle_lower_op(lowering, "linear_forward", &shape, bound, 3, output);
}

const heddle_layer_type heddle_layer_linear = {
    .name = "linear",
    .short_name = "linear",
    .summary = "every output a weighted sum of all inputs",
    HEDDLE_LAYER_SETTINGS(settings),
    .in_rank = 1,
    .infer = infer,
    .parameters = parameters,
    .lower = lower,
};
