// Makes layers of ONNX nodes. A node that heddle has no layer for, or with settings that the layer does not have, is
// refused by name.

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/onnx_linear.h"

// --- layers
// -------------------------------------------------------------------------------------------------------------

heddle_layer heddle_onnx_layer(const heddle_onnx_layers *layers, const char *type)
{
    heddle_layer layer = {.dilation = 1, .groups = 1, .decay = 1, .in_rank = layers->sample.rank};
    for (int i = 0; i < heddle_layer_type_count(); i++)
        if (strcmp(heddle_layer_type_at(i)->name, type) == 0)
            layer.type = heddle_layer_type_at(i);
    memcpy(layer.in, layers->sample.dims, sizeof layer.in);
    return layer;
}

heddle_status heddle_onnx_set(const heddle_onnx_reader *reader, const heddle_onnx_node *node, heddle_layer *layer,
                              const char *name, double value)
{
    for (int i = 0; i < layer->type->setting_count; i++) {
        const heddle_setting *setting = &layer->type->settings[i];
        if (strcmp(setting->name, name) != 0)
            continue;
        if (!(value >= setting->least && value <= setting->most))
            return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "%s (%s) is %g; heddle allows %g to %g", name,
                                      setting->note, value, setting->least, setting->most);
        void *at = (char *)layer + setting->offset;
        if (setting->kind == HEDDLE_SETTING_FLOAT)
            *(float *)at = (float)value;
        else
            *(int *)at = (int)value;
        return HEDDLE_OK;
    }
    return heddle_fail(HEDDLE_INTERNAL, "layer type %s has no setting %s", layer->type->name, name);
}

heddle_status heddle_onnx_add(const heddle_onnx_reader *reader, const heddle_onnx_node *node, heddle_layer *layer,
                              heddle_onnx_layers *layers)
{
    const int wanted = layer->type ? layer->type->in_rank : 0;
    if (!layer->type)
        return heddle_fail(HEDDLE_INTERNAL, "a layer of no type");
    if (wanted && wanted != layer->in_rank)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "%s takes %s, but gets %s", layer->type->name,
                                  wanted == 3 ? "images" : "features", wanted == 3 ? "features" : "images");
    if (layer->type->infer(layer) != HEDDLE_OK)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "%s", heddle_last_error());
    cJSON *made = heddle_layers_to_json(&(heddle_layer_list){layer, 1});
    cJSON *item = made ? cJSON_DetachItemFromArray(made, 0) : NULL;
    cJSON_Delete(made);
    if (!item)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the layers of %s", reader->what);
    cJSON_DeleteItemFromObjectCaseSensitive(item, "name"); // heddle's own will do
    cJSON_AddItemToArray(layers->json, item);
    layers->sample = (heddle_onnx_sample){.rank = layer->out_rank};
    memcpy(layers->sample.dims, layer->out, sizeof layer->out);
    return HEDDLE_OK;
}

void heddle_onnx_add_values(heddle_onnx_reader *reader, const float *values, size_t elements)
{
    reader->shared |= reader->value_count == reader->most_values;
    if (reader->shared)
        return;
    reader->values[reader->value_count] = values;
    reader->sizes[reader->value_count++] = elements;
}

typedef heddle_status make_layer(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                 heddle_onnx_layers *layers);

// --- convolutions and pooling
// -------------------------------------------------------------------------------------------

// Zeros on every side; "SAME" where that means the same number on each.
static heddle_status read_padding(const heddle_onnx_reader *reader, const heddle_onnx_node *node, int64_t extent,
                                  int64_t stride, int64_t *padding)
{
    const heddle_onnx_attribute *automatic = heddle_onnx_attribute_of(node, "auto_pad");
    const char *how = automatic && automatic->kind == HEDDLE_ONNX_IS_TEXT ? automatic->text : "NOTSET";
    *padding = 0;
    if (strcmp(how, "NOTSET") == 0)
        return heddle_onnx_same(reader, node, "pads", 4, 0, padding);
    if (strcmp(how, "VALID") == 0)
        return HEDDLE_OK;
    if (stride != 1 || extent < 1 || extent % 2 == 0)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "auto_pad %.20s pads two sides differently here",
                                  how);
    *padding = (extent - 1) / 2;
    return HEDDLE_OK;
}

static heddle_status read_conv(heddle_onnx_reader *reader, const heddle_onnx_node *node,
                               const heddle_onnx_tensor *weight, heddle_layer *layer)
{
    int64_t kernel, stride, padding, dilation, groups;
    if (weight->rank != 4)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "a convolution over %d dimensions; heddle's is over 2", weight->rank - 2);
    HEDDLE_TRY(heddle_onnx_same(reader, node, "kernel_shape", 2, weight->dims[2], &kernel));
    if (weight->dims[2] == weight->dims[3] && weight->dims[2] != kernel)
        return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT,
                                  "damaged: a filter of %lld×%lld, kernel_shape says %lld", (long long)weight->dims[2],
                                  (long long)weight->dims[3], (long long)kernel);
    if (weight->dims[2] != kernel || weight->dims[3] != kernel)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "a filter of %lld×%lld; heddle's are square",
                                  (long long)weight->dims[2], (long long)weight->dims[3]);
    HEDDLE_TRY(heddle_onnx_same(reader, node, "strides", 2, 1, &stride));
    HEDDLE_TRY(heddle_onnx_same(reader, node, "dilations", 2, 1, &dilation));
    HEDDLE_TRY(heddle_onnx_int(reader, node, "group", 1, &groups));
    HEDDLE_TRY(heddle_onnx_set(reader, node, layer, "channels", (double)weight->dims[0]));
    HEDDLE_TRY(heddle_onnx_set(reader, node, layer, "kernel", (double)kernel));
    HEDDLE_TRY(heddle_onnx_set(reader, node, layer, "stride", (double)stride));
    HEDDLE_TRY(heddle_onnx_set(reader, node, layer, "dilation", (double)dilation));
    HEDDLE_TRY(heddle_onnx_set(reader, node, layer, "groups", (double)groups));
    HEDDLE_TRY(read_padding(reader, node, dilation * (kernel - 1) + 1, stride, &padding));
    HEDDLE_TRY(heddle_onnx_set(reader, node, layer, "padding", (double)padding));
    if (layer->in_rank == 3 && weight->dims[1] != layer->in[0] / layer->groups)
        return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT,
                                  "damaged: its filters are for %lld channels, it gets %d", (long long)weight->dims[1],
                                  layer->in[0] / layer->groups);
    return HEDDLE_OK;
}

static heddle_status conv(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                          heddle_onnx_layers *layers)
{
    const heddle_onnx_tensor *weight, *bias;
    heddle_layer layer = heddle_onnx_layer(layers, "conv2d");
    (void)way;
    HEDDLE_TRY(heddle_onnx_stored(reader, node, 1, false, &weight));
    HEDDLE_TRY(heddle_onnx_stored(reader, node, 2, true, &bias));
    HEDDLE_TRY(read_conv(reader, node, weight, &layer));
    if (bias && bias->elements != (size_t)layer.channels)
        return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT, "damaged: a bias of %zu numbers for %d channels",
                                  bias->elements, layer.channels);
    layer.bias = bias != NULL;
    HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    heddle_onnx_add_values(reader, weight->data, weight->elements);
    if (bias)
        heddle_onnx_add_values(reader, bias->data, bias->elements);
    return HEDDLE_OK;
}

// The last window may not hang over the edge.
static bool ceils(const heddle_layer *layer, int64_t ceil_mode)
{
    const int rows = layer->in[1] + 2 * layer->padding - layer->window;
    const int columns = layer->in[2] + 2 * layer->padding - layer->window;
    return ceil_mode && (rows % layer->stride || columns % layer->stride);
}

static heddle_status pool(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                          heddle_onnx_layers *layers)
{
    const bool average = heddle_onnx_is(node, "AveragePool");
    heddle_layer layer = heddle_onnx_layer(layers, average ? "avgpool2d" : "maxpool2d");
    int64_t window, stride, padding, dilation, ceil_mode, counts_padding;
    (void)way;
    HEDDLE_TRY(heddle_onnx_same(reader, node, "kernel_shape", 2, 0, &window));
    HEDDLE_TRY(heddle_onnx_same(reader, node, "strides", 2, 1, &stride));
    HEDDLE_TRY(heddle_onnx_same(reader, node, "dilations", 2, 1, &dilation));
    HEDDLE_TRY(heddle_onnx_int(reader, node, "ceil_mode", 0, &ceil_mode));
    HEDDLE_TRY(heddle_onnx_int(reader, node, "count_include_pad", 0, &counts_padding));
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "window", (double)window));
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "stride", (double)stride));
    HEDDLE_TRY(read_padding(reader, node, window, stride, &padding));
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "padding", (double)padding));
    if (dilation != 1)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "dilated pooling, which heddle does not have");
    if (average && counts_padding && padding > 0)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "it counts padding (count_include_pad); heddle's avgpool2d does not");
    if (stride < 1 || (layer.in_rank == 3 && ceils(&layer, ceil_mode)))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "its last window hangs over the edge (ceil_mode), which heddle's do not");
    return heddle_onnx_add(reader, node, &layer, layers);
}

static heddle_status global_pool(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                 heddle_onnx_layers *layers)
{
    heddle_layer layer = heddle_onnx_layer(layers, "globalavgpool");
    (void)way;
    HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    layers->sample.keeps = true;
    return HEDDLE_OK;
}

// Which axes a node is about: an attribute, or since opset 13 to 18 an input. Both of the pixels'?
static bool are_pixels(heddle_onnx_reader *reader, const heddle_onnx_node *node)
{
    const heddle_onnx_attribute *attribute = heddle_onnx_attribute_of(node, "axes");
    int64_t axes[HEDDLE_ONNX_INTEGERS];
    int count = 0;
    if (attribute && attribute->kind == HEDDLE_ONNX_IS_INTS && attribute->count == 2) {
        memcpy(axes, attribute->integers, 2 * sizeof *axes);
        count = 2;
    } else if (node->input_count > 1 && !heddle_onnx_integers(reader, node->inputs[1], axes, &count)) {
        return false;
    }
    for (int i = 0; i < count; i++)
        axes[i] += axes[i] < 0 ? 4 : 0;
    return count == 2 && axes[0] + axes[1] == 5 && (axes[0] == 2 || axes[0] == 3);
}

static heddle_status reduce_mean(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                 heddle_onnx_layers *layers)
{
    int64_t keeps;
    HEDDLE_TRY(heddle_onnx_int(reader, node, "keepdims", 1, &keeps));
    if (layers->sample.rank != 3 || !are_pixels(reader, node))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "a mean over other axes than height and width of images");
    HEDDLE_TRY(global_pool(reader, node, way, layers));
    layers->sample.keeps = keeps != 0;
    return HEDDLE_OK;
}

// --- normalisation
// ------------------------------------------------------------------------------------------------------

static heddle_status batchnorm(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                               heddle_onnx_layers *layers)
{
    enum { PARTS = 4 };
    const heddle_onnx_tensor *parts[PARTS];
    heddle_layer layer = heddle_onnx_layer(layers, "batchnorm2d");
    float epsilon, momentum;
    (void)way;
    HEDDLE_TRY(heddle_onnx_read_norm(reader, node, (size_t)layers->sample.dims[0], parts, &epsilon));
    HEDDLE_TRY(heddle_onnx_real(reader, node, "momentum", 0.9F, &momentum));
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "epsilon", (double)epsilon));
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "momentum", (double)(1 - momentum)));
    HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    for (int i = 0; i < PARTS; i++)
        heddle_onnx_add_values(reader, parts[i]->data, parts[i]->elements);
    return HEDDLE_OK;
}

static heddle_status layernorm(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                               heddle_onnx_layers *layers)
{
    const heddle_onnx_tensor *scale, *shift;
    heddle_layer layer = heddle_onnx_layer(layers, "layernorm");
    float epsilon;
    size_t elements = 1;
    (void)way;
    HEDDLE_TRY(heddle_onnx_stored(reader, node, 1, false, &scale));
    HEDDLE_TRY(heddle_onnx_stored(reader, node, 2, true, &shift));
    HEDDLE_TRY(heddle_onnx_real(reader, node, "epsilon", 1e-5F, &epsilon));
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "epsilon", (double)epsilon));
    for (int i = 0; i < layer.in_rank; i++)
        elements *= (size_t)layer.in[i];
    if (scale->elements != elements || (shift && shift->elements != elements))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "it normalises over %zu numbers; heddle's layernorm takes all %zu of a sample",
                                  scale->elements, elements);
    HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    const float *zeros = shift ? shift->data : heddle_onnx_copy(reader, elements);
    if (!zeros)
        return HEDDLE_UNSUPPORTED;
    heddle_onnx_add_values(reader, scale->data, elements);
    heddle_onnx_add_values(reader, zeros, elements);
    return HEDDLE_OK;
}

// --- shapes
// -------------------------------------------------------------------------------------------------------------

static heddle_status to_features(const heddle_onnx_reader *reader, const heddle_onnx_node *node,
                                 heddle_onnx_layers *layers)
{
    heddle_layer layer = heddle_onnx_layer(layers, "flatten");
    if (layers->sample.rank == 3)
        HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    layers->sample.keeps = false;
    return HEDDLE_OK;
}

static heddle_status flatten(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                             heddle_onnx_layers *layers)
{
    int64_t axis;
    (void)way;
    HEDDLE_TRY(heddle_onnx_int(reader, node, "axis", 1, &axis));
    const int rank = layers->sample.rank == 3 || layers->sample.keeps ? 4 : 2;
    if (axis != 1 && axis + rank != 1)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "axis %lld mixes images of a batch",
                                  (long long)axis);
    return to_features(reader, node, layers);
}

// Whether a Reshape leaves the batch alone and makes one row of each image, or leaves all as it is.
static heddle_status reshape(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                             heddle_onnx_layers *layers)
{
    const heddle_onnx_sample *sample = &layers->sample;
    int64_t to[HEDDLE_ONNX_INTEGERS], features = 1;
    const int64_t fixed = reader->graph->input.dims[0];
    int count = 0;
    (void)way;
    for (int i = 0; i < sample->rank; i++)
        features *= sample->dims[i];
    const bool known = node->input_count == 2 && heddle_onnx_integers(reader, node->inputs[1], to, &count);
    const bool batch =
        known && count == 2 &&
        (to[0] == HEDDLE_ONNX_BATCH || to[0] == 0 || (to[0] == -1 && to[1] != -1) || (to[0] > 0 && to[0] == fixed));
    if (!batch || (to[1] != -1 && to[1] != features))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "a Reshape that is not a flatten: (batch, %lld) is what heddle can do here",
                                  (long long)features);
    return to_features(reader, node, layers);
}

static heddle_status squeeze(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                             heddle_onnx_layers *layers)
{
    const heddle_onnx_sample *sample = &layers->sample;
    (void)way;
    const bool single = sample->keeps || (sample->rank == 3 && sample->dims[1] == 1 && sample->dims[2] == 1);
    if (!single || !are_pixels(reader, node))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "it takes away other axes than height and width");
    return to_features(reader, node, layers);
}

// --- functions
// ----------------------------------------------------------------------------------------------------------

// Nodes that do nothing in a network that is used.
static heddle_status nothing(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                             heddle_onnx_layers *layers)
{
    (void)reader, (void)node, (void)way, (void)layers;
    return HEDDLE_OK;
}

// Without training it does nothing, too. Whether it trains is a number of the file, from version 12 of the operators
// on.
static heddle_status dropout(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                             heddle_onnx_layers *layers)
{
    const int training = node->input_count > 2 ? node->inputs[2] : HEDDLE_ONNX_NONE;
    (void)way, (void)layers;
    if (training == HEDDLE_ONNX_NONE)
        return HEDDLE_OK;
    const heddle_onnx_tensor *stored = reader->graph->values[training].constant;
    if (stored && stored->type == HEDDLE_ONNX_BOOL && stored->elements == 1 && !*(const unsigned char *)stored->data)
        return HEDDLE_OK;
    return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                              "exported for training; call model.eval() before exporting");
}

static heddle_status pad(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                         heddle_onnx_layers *layers)
{
    int64_t sides[HEDDLE_ONNX_INTEGERS];
    int count = 0;
    (void)way, (void)layers;
    bool none = node->input_count > 1 && heddle_onnx_integers(reader, node->inputs[1], sides, &count);
    for (int i = 0; i < count; i++)
        none &= sides[i] == 0;
    return none ? HEDDLE_OK
                : heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                     "padding by itself; heddle pads in convolutions and pooling alone");
}

static heddle_status activation(heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *type,
                                heddle_onnx_layers *layers)
{
    float alpha;
    heddle_layer layer = heddle_onnx_layer(layers, type);
    HEDDLE_TRY(heddle_onnx_real(reader, node, "alpha", 1, &alpha));
    if (alpha != 1)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "alpha is %g; heddle's is 1", (double)alpha);
    const bool keeps = layers->sample.keeps;
    HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    layers->sample.keeps = keeps;
    return HEDDLE_OK;
}

static heddle_status function(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                              heddle_onnx_layers *layers)
{
    static const struct {
        const char *op, *type;
    } known[] = {{"Relu", "relu"}, {"Tanh", "tanh"},         {"Sigmoid", "sigmoid"},
                 {"Elu", "elu"},   {"Softplus", "softplus"}, {"Swish", "swish"}};
    (void)way;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (heddle_onnx_is(node, known[i].op))
            return activation(reader, node, known[i].type, layers);
    return heddle_fail(HEDDLE_INTERNAL, "%s is no function", node->op);
}

static heddle_status gelu(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                          heddle_onnx_layers *layers)
{
    const heddle_onnx_attribute *how = heddle_onnx_attribute_of(node, "approximate");
    (void)way;
    if (how && (how->kind != HEDDLE_ONNX_IS_TEXT || strcmp(how->text, "none") != 0))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "approximated by tanh; heddle's gelu is exact");
    return activation(reader, node, "gelu", layers);
}

// 1 + erf(x / √2)
static bool is_erf_part(const heddle_onnx_reader *reader, int value, int x)
{
    int erf, argument;
    if (!heddle_onnx_is_with_number(reader, value, "Add", 1, &erf) ||
        !heddle_onnx_is(heddle_onnx_node_of(reader, erf), "Erf"))
        return false;
    const heddle_onnx_node *node = heddle_onnx_node_of(reader, erf);
    const int scaled = node->input_count > 0 ? node->inputs[0] : HEDDLE_ONNX_NONE;
    return (heddle_onnx_is_with_number(reader, scaled, "Div", M_SQRT2, &argument) && argument == x) ||
           (heddle_onnx_is_with_number(reader, scaled, "Mul", M_SQRT1_2, &argument) && argument == x);
}

// Products of two values from the images: swish, and gelu as exporters spell it out.
static heddle_status multiply(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                              heddle_onnx_layers *layers)
{
    const int x = reader->dominator[way->values[0]];
    int other;
    for (int side = 0; side < 2 && node->input_count == 2; side++) {
        const int a = node->inputs[side], b = node->inputs[1 - side];
        const heddle_onnx_node *gate = heddle_onnx_node_of(reader, b);
        if (a == x && heddle_onnx_is(gate, "Sigmoid") && gate->input_count > 0 && gate->inputs[0] == x)
            return activation(reader, node, "swish", layers);
        const bool halved = heddle_onnx_is_with_number(reader, a, "Mul", 0.5, &other) && other == x;
        if (halved && is_erf_part(reader, b, x))
            return activation(reader, node, "gelu", layers);
        if (a == x && heddle_onnx_is_with_number(reader, b, "Mul", 0.5, &other) && is_erf_part(reader, other, x))
            return activation(reader, node, "gelu", layers);
        const bool halved_next =
            way->count > 1 && heddle_onnx_is_with_number(reader, way->values[1], "Mul", 0.5, &other);
        if (a == x && is_erf_part(reader, b, x) && halved_next && other == way->values[0]) {
            layers->used = 2;
            return activation(reader, node, "gelu", layers);
        }
    }
    return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                              "a product that is neither swish nor gelu; heddle has no such layer");
}

// x where it is above 20, softplus elsewhere: what softplus is in PyTorch. Above 20 both are the same in float32.
static heddle_status choose(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                            heddle_onnx_layers *layers)
{
    const int x = reader->dominator[way->values[0]];
    if (node->input_count == 3 && node->inputs[1] == x) {
        const heddle_onnx_node *test = heddle_onnx_node_of(reader, node->inputs[0]);
        const heddle_onnx_node *softplus = heddle_onnx_node_of(reader, node->inputs[2]);
        if (heddle_onnx_is(test, "Greater") && test->input_count == 2 && test->inputs[0] == x &&
            heddle_onnx_is_number(reader, test->inputs[1], 20) && heddle_onnx_is(softplus, "Softplus") &&
            softplus->input_count == 1 && softplus->inputs[0] == x)
            return activation(reader, node, "softplus", layers);
    }
    return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "a choice that is not a softplus");
}

static heddle_status check_axis(const heddle_onnx_reader *reader, const heddle_onnx_node *node,
                                const heddle_onnx_layers *layers)
{
    int64_t axis;
    HEDDLE_TRY(heddle_onnx_int(reader, node, "axis", reader->graph->opset < 13 ? 1 : -1, &axis));
    if (layers->sample.rank != 1 || layers->sample.keeps || (axis != 1 && axis != -1))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "not over the classes");
    return HEDDLE_OK;
}

static heddle_status log_softmax(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                 heddle_onnx_layers *layers)
{
    heddle_layer layer = heddle_onnx_layer(layers, "log_softmax");
    (void)way;
    HEDDLE_TRY(check_axis(reader, node, layers));
    return heddle_onnx_add(reader, node, &layer, layers);
}

// heddle's predictions end with it anyway.
static heddle_status softmax(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                             heddle_onnx_layers *layers)
{
    if (way->count > 1 || reader->nested > 1)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "heddle has a softmax at the end of a network alone");
    return check_axis(reader, node, layers);
}

static heddle_status quantised(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                               heddle_onnx_layers *layers)
{
    (void)way, (void)layers;
    return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                              "a quantised network; import the float32 file that it was made from");
}

static heddle_status arithmetic(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                heddle_onnx_layers *layers)
{
    (void)way, (void)layers;
    return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                              "arithmetic with stored numbers is not a layer; if it normalises the images, export the "
                              "model without it: heddle's images are from 0 to 1");
}

// --- the table
// ----------------------------------------------------------------------------------------------------------

static const struct {
    const char *op;
    make_layer *make;
} table[] = {
    {"Conv", conv},
    {"Gemm", heddle_onnx_linear},
    {"MatMul", heddle_onnx_linear},
    {"BatchNormalization", batchnorm},
    {"LayerNormalization", layernorm},
    {"MaxPool", pool},
    {"AveragePool", pool},
    {"GlobalAveragePool", global_pool},
    {"ReduceMean", reduce_mean},
    {"Flatten", flatten},
    {"Reshape", reshape},
    {"Squeeze", squeeze},
    {"Relu", function},
    {"Tanh", function},
    {"Sigmoid", function},
    {"Elu", function},
    {"Softplus", function},
    {"Swish", function},
    {"Gelu", gelu},
    {"Mul", multiply},
    {"Where", choose},
    {"LogSoftmax", log_softmax},
    {"Softmax", softmax},
    {"Dropout", dropout},
    {"Identity", nothing},
    {"Pad", pad},
    {"QuantizeLinear", quantised},
    {"DequantizeLinear", quantised},
    {"Add", arithmetic},
    {"Sub", arithmetic},
    {"Div", arithmetic},
};

heddle_status heddle_onnx_step(heddle_onnx_reader *reader, const heddle_onnx_way *way, heddle_onnx_layers *layers)
{
    const heddle_onnx_node *node = heddle_onnx_node_of(reader, way->values[0]);
    layers->used = 1;
    if (node->outputs[0] != way->values[0])
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "the network uses another output than its first");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!heddle_onnx_is(node, table[i].op))
            continue;
        const bool joins = table[i].make == multiply || table[i].make == choose;
        if (table[i].make == multiply && (!heddle_onnx_is_image(reader, node->inputs[0]) || node->input_count < 2 ||
                                          !heddle_onnx_is_image(reader, node->inputs[1])))
            return arithmetic(reader, node, way, layers);
        if (!joins && node->inputs[0] != reader->dominator[way->values[0]])
            return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                      "its first input is not computed from the images");
        return table[i].make(reader, node, way, layers);
    }
    return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "heddle has no layer for this operator%s%.40s",
                              node->domain[0] ? " of " : "", node->domain);
}
