// What the files of layer types have in common: how a table of settings is written, shapes, and parameters.
#pragma once

#include <math.h>
#include <stddef.h>

#include "heddle/ops.h"
#include "nn/layers.h"
#include "nn/lower.h"

enum { HEDDLE_MOST_CHANNELS = 65536, HEDDLE_MOST_WINDOW = 64, HEDDLE_MOST_FEATURES = 1 << 24 };

// A row of a table of settings, inside its braces: `field` of heddle_layer. REQUIRED: a model file must give it.
#define HEDDLE_LAYER_SETTING(type, field, low, high, value, text)                                                      \
    .name = #field, .offset = offsetof(heddle_layer, field), .kind = (type), .least = (low), .most = (high),           \
    .initial = (value), .note = (text)
#define HEDDLE_LAYER_INT(field, low, high, value, text)                                                                \
    HEDDLE_LAYER_SETTING(HEDDLE_SETTING_INT, field, low, high, value, text)
#define HEDDLE_LAYER_REQUIRED_INT(field, low, high, text)                                                              \
    HEDDLE_LAYER_SETTING(HEDDLE_SETTING_INT, field, low, high, NAN, text)
#define HEDDLE_LAYER_FLOAT(field, low, high, value, text)                                                              \
    HEDDLE_LAYER_SETTING(HEDDLE_SETTING_FLOAT, field, low, high, value, text)
#define HEDDLE_LAYER_BOOL(field, value, text) HEDDLE_LAYER_SETTING(HEDDLE_SETTING_BOOL, field, 0, 1, value, text)
#define HEDDLE_LAYER_BIAS                     HEDDLE_LAYER_BOOL(bias, 1, "add a trained number to each output")
// Of every type with parameters.
#define HEDDLE_LAYER_DECAY           HEDDLE_LAYER_BOOL(decay, 1, "apply weight decay to its parameters")

#define HEDDLE_LAYER_SETTINGS(table) .settings = (table), .setting_count = sizeof(table) / sizeof *(table)

// Elements of the layer's input; fails where they are more than an int can count.
heddle_status heddle_infer_elements(const heddle_layer *layer, int *elements);
// infer: the output is like the input.
heddle_status heddle_infer_same(heddle_layer *layer);
// infer: a window of `extent` pixels moves over the image with the layer's stride and padding.
heddle_status heddle_infer_windows(heddle_layer *layer, int channels, int extent);

// A parameter of `rank` dimensions, called `name`; the caller fills in its start.
heddle_parameter_spec heddle_parameter_make(const heddle_layer *layer, const char *name, int rank, const int *dims);
// parameters: weight and, where the layer has it, bias, uniform in ±1/sqrt(inputs of one output) as in PyTorch.
int heddle_weight_and_bias(const heddle_layer *layer, int rank, const int *dims, heddle_parameter_spec *specs);
