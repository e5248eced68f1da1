// conv2d: 2-D convolution with a square filter, in groups of channels where asked for.

#include "nn/layers/type.h"

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_REQUIRED_INT(channels, 1, HEDDLE_MOST_CHANNELS, "output channels")},
    {HEDDLE_LAYER_INT(kernel, 1, HEDDLE_MOST_WINDOW, 3, "height and width of the filter")},
    {HEDDLE_LAYER_INT(stride, 1, HEDDLE_MOST_WINDOW, 1, "step of the filter")},
    {HEDDLE_LAYER_INT(padding, 0, HEDDLE_MOST_WINDOW, 0, "zeros around the image")},
    {HEDDLE_LAYER_INT(dilation, 1, HEDDLE_MOST_WINDOW, 1, "distance between the filter's taps")},
    {HEDDLE_LAYER_INT(groups, 1, HEDDLE_MOST_CHANNELS, 1, "groups of channels; each filter reads one of them")},
    {HEDDLE_LAYER_BIAS},
    {HEDDLE_LAYER_DECAY},
};

static heddle_status infer(heddle_layer *layer)
{
    if (layer->in[0] % layer->groups || layer->channels % layer->groups)
        return heddle_fail(
            HEDDLE_INVALID,
            "%d groups do not divide %d input and %d output channels evenly; make both multiples of 'groups'",
            layer->groups, layer->in[0], layer->channels);
    return heddle_infer_windows(layer, layer->channels, layer->dilation * (layer->kernel - 1) + 1);
}

static int parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
{
    int dims[] = {layer->channels, layer->in[0] / layer->groups, layer->kernel, layer->kernel};
    return heddle_weight_and_bias(layer, 4, dims, specs);
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    heddle_conv2d_shape shape = {
        .n = lowering->batch,
        .c = layer->in[0],
        .h = layer->in[1],
        .w = layer->in[2],
        .k = layer->channels,
        .r = layer->kernel,
        .s = layer->kernel,
        .stride = layer->stride,
        .padding = layer->padding,
        .dilation = layer->dilation,
    };
    heddle_binding bound[] = {{"input", input},
                              {"weight", heddle_lower_parameter(lowering, layer, "weight")},
                              {"bias", heddle_lower_parameter(lowering, layer, "bias")}};
    if (layer->groups == 1)
        return heddle_lower_op(lowering, "conv2d_forward", &shape, bound, 3, output);
    heddle_conv2d_grouped_shape grouped = {.conv = shape, .groups = layer->groups};
    return heddle_lower_op(lowering, "conv2d_grouped_forward", &grouped, bound, 3, output);
}

const heddle_layer_type heddle_layer_conv2d = {
    .name = "conv2d",
    .short_name = "conv",
    .summary = "2-D convolution with a square filter",
    HEDDLE_LAYER_SETTINGS(settings),
    .in_rank = 3,
    .infer = infer,
    .parameters = parameters,
    .lower = lower,
};
