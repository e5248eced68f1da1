// Layers. A layer type is one file, layers/NAME.c, with one table entry: what it is called, which settings it takes,
// what shape it gives, which parameters it has and which operators it becomes. layers.c has the list of types and
// reads, writes and describes layers through it.
#pragma once

#include <cjson/cJSON.h>

#include "heddle/model.h"
#include "nn/trace.h"

enum {
    HEDDLE_LAYER_NAME = 32,
    HEDDLE_LAYER_DEPTH = 4, // lists of layers inside one another, the model's own included
    HEDDLE_LAYER_PATH = HEDDLE_LAYER_DEPTH * (HEDDLE_LAYER_NAME + 12), // ".projection." between two names
    HEDDLE_PARAMETER_NAME = HEDDLE_LAYER_PATH + 16,
    HEDDLE_LAYER_PARAMETERS = 4, // the most a layer has (batchnorm2d: gamma, beta and two running statistics)
};

typedef struct heddle_layer_type heddle_layer_type;
typedef struct heddle_lowering heddle_lowering;

// Layers one after another.
typedef struct heddle_layer_list {
    struct heddle_layer *layers;
    int count;
} heddle_layer_list;

typedef struct heddle_layer {
    const heddle_layer_type *type;
    char name[HEDDLE_LAYER_PATH]; // "residual1.conv2": those of the layers around it come first
    int own_name;                 // where its own begins
    int in_rank, in[3];           // one sample: (channels, height, width) or (features)
    int out_rank, out[3];
    // Settings; a type uses those its table entry names.
    int channels, kernel, stride, padding, dilation, groups, window, features, bias, decay;
    float epsilon, momentum, probability;
    heddle_layer_list layers, projection;
} heddle_layer;

typedef enum heddle_start { HEDDLE_START_UNIFORM, HEDDLE_START_ZERO, HEDDLE_START_ONE } heddle_start;

// What a layer needs stored. Statistics are kept and saved, but no optimiser touches them.
typedef struct heddle_parameter_spec {
    char name[HEDDLE_PARAMETER_NAME]; // "conv1.weight"
    int rank, dims[HEDDLE_MAX_DIMS];
    heddle_start start;
    float bound;         // HEDDLE_START_UNIFORM: in [-bound, bound)
    bool trained, decay; // decay: weight decay applies
} heddle_parameter_spec;

typedef struct heddle_setting {
    const char *name;
    size_t offset; // in heddle_layer
    enum {
        HEDDLE_SETTING_INT,
        HEDDLE_SETTING_FLOAT,
        HEDDLE_SETTING_BOOL,
        HEDDLE_SETTING_FEATURES, // a number, or "classes"
        HEDDLE_SETTING_LAYERS,   // a heddle_layer_list, which gets the layer's input
    } kind;
    double least, most;
    double initial; // the default; NAN: must be given
    const char *note;
} heddle_setting;

struct heddle_layer_type {
    const char *name;
    const char *short_name; // unnamed layers are called this and a number: "conv1"
    const char *summary;
    const heddle_setting *settings;
    int setting_count;
    int in_rank; // what one sample must look like: 1, 3, or 0 for either
    // Sets out_rank and out from in and the settings; fails where they do not fit.
    heddle_status (*infer)(heddle_layer *layer);
    int (*parameters)(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS]); // NULL: none
    heddle_status (*lower)(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output);
};

int heddle_layer_type_count(void);
const heddle_layer_type *heddle_layer_type_at(int index);

// Names become names of tensors and folders, and parts of messages: one line, no path.
heddle_status heddle_name_read(const char *what, const cJSON *given, char *name, size_t size);
// Reads a list of layers, each of which gets what the one before it gives; the first gets a sample of `dims`. `what`
// names the list in errors. To be freed, also after a failure.
heddle_status heddle_layers_read(const char *what, const cJSON *json, int classes, const int dims[3],
                                 heddle_layer_list *list);
void heddle_layers_free(heddle_layer_list *list);
// Every setting written out. NULL when out of memory.
cJSON *heddle_layers_to_json(const heddle_layer_list *list);
// "channels 32, kernel 3, padding 1": the settings that differ from their defaults.
void heddle_layer_details(const heddle_layer *layer, char *text, size_t size);
