// residual: layers(x) + x, or layers(x) + projection(x) where the layers change the size. What follows the sum, such as
// a relu, is a layer of its own.

#include <stdio.h>
#include <string.h>

#include "nn/layers/type.h"

enum { SHAPE_TEXT = 48 };

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_SETTING(HEDDLE_SETTING_LAYERS, layers, 0, 0, NAN, "the list of layers around which the input goes")},
    {HEDDLE_LAYER_SETTING(HEDDLE_SETTING_LAYERS, projection, 0, 0, 0,
                          "a list of layers that brings the input to the size of the others' output")},
};

static const char *shape_text(int rank, const int dims[3], char text[SHAPE_TEXT])
{
    if (rank == 1)
        snprintf(text, SHAPE_TEXT, "%d features", dims[0]);
    else
        snprintf(text, SHAPE_TEXT, "%d×%d×%d", dims[0], dims[1], dims[2]);
    return text;
}

static heddle_status infer(heddle_layer *layer)
{
    if (layer->layers.count == 0)
        return heddle_fail(HEDDLE_INVALID, "its list of layers is empty");
    const bool projects = layer->projection.count > 0;
    const heddle_layer *last = &layer->layers.layers[layer->layers.count - 1];
    const heddle_layer *around = projects ? &layer->projection.layers[layer->projection.count - 1] : NULL;
    int rank = around ? around->out_rank : layer->in_rank;
    const int *dims = around ? around->out : layer->in;
    if (rank != last->out_rank || memcmp(dims, last->out, (size_t)rank * sizeof *dims) != 0) {
        char found[SHAPE_TEXT], wanted[SHAPE_TEXT];
        return heddle_fail(HEDDLE_INVALID, "its layers give %s, but its %s %s; %s",
                           shape_text(last->out_rank, last->out, wanted), projects ? "projection gives" : "input is",
                           shape_text(rank, dims, found),
                           projects ? "make both equal" : "add a \"projection\" that brings the input to that size");
    }
    layer->out_rank = last->out_rank;
    memcpy(layer->out, last->out, sizeof layer->out);
    return HEDDLE_OK;
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    heddle_value inner, around;
    HEDDLE_TRY(heddle_lower_layers(lowering, &layer->layers, input, &inner));
    HEDDLE_TRY(heddle_lower_layers(lowering, &layer->projection, input, &around));
    heddle_elements_shape shape;
    HEDDLE_TRY(heddle_lower_elements(lowering, layer->out_rank, layer->out, &shape.n));
    heddle_binding bound[] = {{"a", inner}, {"b", around}};
    HEDDLE_TRY(heddle_lower_op(lowering, "add_forward", &shape, bound, 2, output));
    return heddle_lower_reshape(lowering, layer, output);
}

const heddle_layer_type heddle_layer_residual = {
    .name = "residual",
    .short_name = "residual",
    .summary = "the input added to what layers make of it",
    HEDDLE_LAYER_SETTINGS(settings),
    .infer = infer,
    .lower = lower,
};
