// maxpool2d and avgpool2d: one number for each window. They differ in their operators alone.

#include "nn/layers/type.h"

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_INT(window, 1, HEDDLE_MOST_WINDOW, 2, "height and width of the window")},
    {HEDDLE_LAYER_INT(stride, 0, HEDDLE_MOST_WINDOW, 0, "step of the window; 0: the window's size")},
    {HEDDLE_LAYER_INT(padding, 0, HEDDLE_MOST_WINDOW, 0, "pixels around the image that do not count")},
};

static heddle_status infer(heddle_layer *layer)
{
    if (layer->stride == 0)
        layer->stride = layer->window;
    if (2 * layer->padding > layer->window)
        return heddle_fail(HEDDLE_INVALID, "padding %d is more than half of window %d", layer->padding, layer->window);
    return heddle_infer_windows(layer, layer->in[0], layer->window);
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, const char *op, heddle_value input,
                           heddle_value *output)
{
    heddle_pool2d_shape shape = {
        .n = lowering->batch,
        .c = layer->in[0],
        .h = layer->in[1],
        .w = layer->in[2],
        .window = layer->window,
        .stride = layer->stride,
        .padding = layer->padding,
    };
    heddle_binding bound[] = {{"input", input}};
    return heddle_lower_op(lowering, op, &shape, bound, 1, output);
}

static heddle_status lower_max(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                               heddle_value *output)
{
    return lower(lowering, layer, "maxpool2d_forward", input, output);
}

static heddle_status lower_average(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                                   heddle_value *output)
{
    return lower(lowering, layer, "avgpool2d_forward", input, output);
}

#define POOL2D(text, function)                                                                                         \
    .short_name = "pool", .summary = (text), HEDDLE_LAYER_SETTINGS(settings), .in_rank = 3, .infer = infer,            \
    .lower = (function)

const heddle_layer_type heddle_layer_maxpool2d = {.name = "maxpool2d", POOL2D("largest of each window", lower_max)};
const heddle_layer_type heddle_layer_avgpool2d = {.name = "avgpool2d", POOL2D("mean of each window", lower_average)};
