// The inside of a model, for the rest of nn/.
#pragma once

#include "heddle/model.h"
#include "nn/layers.h"

struct heddle_model {
    char name[64];
    heddle_input_shape input;
    heddle_input_shape named_input; // what the file says, if it does (channels > 0); `input` is what it is built for
    heddle_layer *layers;           // in the order they run; a residual has further ones inside
    int layer_count;
    const heddle_layer **every; // those inside others included, behind the layer they are in
    int every_count;
    heddle_parameter_spec *parameters; // of every layer, in that order
    int parameter_count;
    char *json;
};

// The index of "conv1.weight" in model->parameters, or -1; by the whole name, and by its two parts.
int heddle_model_find_parameter(const heddle_model *model, const char *name);
int heddle_model_parameter_index(const heddle_model *model, const char *layer, const char *parameter);

// The text of a built-in model, or NULL.
const char *heddle_model_builtin(const char *name);
