// Models: layers and their parameters' shapes, built in or from a JSON file. A model holds no memory on a device.
//
// A model file:
//   {"name": "small", "layers": [
//     {"type": "conv2d", "channels": 32, "kernel": 3, "padding": 1}, {"type": "batchnorm2d"}, {"type": "relu"},
//     {"type": "maxpool2d", "window": 2}, {"type": "flatten"}, {"type": "linear", "features": "classes"}]}
// docs/models.md lists every layer and field.
#ifndef HEDDLE_MODEL_H
#define HEDDLE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/device.h"
#include "heddle/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_model heddle_model;

// What goes in and how many classes come out.
typedef struct heddle_input_shape {
    int channels, height, width, classes;
} heddle_input_shape;

// A built-in model ("cnn", "mlp", "lenet", "vgg", "resnet"), or the path of a model file.
HEDDLE_API heddle_status heddle_model_open(const char *name, const heddle_input_shape *input, heddle_model **model);
// From JSON text; `what` names it in errors. `input` may be NULL when the text has an "input" of its own.
HEDDLE_API heddle_status heddle_model_parse(const char *what, const char *text, const heddle_input_shape *input,
                                            heddle_model **model);
HEDDLE_API void heddle_model_close(heddle_model *model);
HEDDLE_API const char *heddle_model_name(const heddle_model *model);
HEDDLE_API heddle_input_shape heddle_model_input(const heddle_model *model);
// The model as JSON, input included: what a checkpoint carries. Lives as long as the model.
HEDDLE_API const char *heddle_model_json(const heddle_model *model);
HEDDLE_API size_t heddle_model_parameters(const heddle_model *model); // trained numbers, all together

// For tables: what layer `index` is and gives. Layers inside a residual come behind it: "residual1.conv1".
typedef struct heddle_layer_info {
    const char *name;                // "conv1"
    const char *type;                // "conv2d"
    char details[96];                // "channels 32, kernel 3, padding 1"
    int rank, dims[HEDDLE_MAX_DIMS]; // of its output for one sample, without the batch
    size_t parameters;
} heddle_layer_info;
HEDDLE_API int heddle_model_layers(const heddle_model *model);
HEDDLE_API heddle_status heddle_model_layer(const heddle_model *model, int index, heddle_layer_info *info);

// Names of the built-in models, NULL-terminated.
HEDDLE_API const char *const *heddle_model_names(void);

#ifdef __cplusplus
}
#endif
#endif
