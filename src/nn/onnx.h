// Models as ONNX graphs and back: what the files of nn/ that do so share.
#pragma once

#include "heddle/onnx.h"
#include "io/onnx.h"
#include "nn/model.h"

enum { HEDDLE_ONNX_OPSET = 17, HEDDLE_ONNX_NAME = HEDDLE_PARAMETER_NAME + 32 };

// A graph that is being made of a model's layers.
typedef struct heddle_onnx_exporter {
    heddle_onnx *graph;
    const heddle_model *model;
    const float *const *values; // of each parameter; NULL: the graph is for looking at alone
} heddle_onnx_exporter;

// --- onnx_layers.c
// ----------------------------------------------------------------------------------------------------

// Appends what a layer computes from `input` and sets *output.
heddle_status heddle_onnx_export_layer(heddle_onnx_exporter *job, const heddle_layer *layer, int input, int *output);
// A parameter of the layer as an initialiser; HEDDLE_ONNX_NONE if it has none of that name.
int heddle_onnx_export_parameter(heddle_onnx_exporter *job, const heddle_layer *layer, const char *name);
// One node of a layer. `part` is "" where it is all of it.
int heddle_onnx_export_node(heddle_onnx_exporter *job, const heddle_layer *layer, const char *part, const char *op,
                            const int *inputs, int count);
// A name for a value that no other has: "/conv1", "/gelu1/erf".
const char *heddle_onnx_export_name(const heddle_onnx_exporter *job, const char *layer, const char *part,
                                    char name[HEDDLE_ONNX_NAME]);
// Attributes of the node that was added last.
void heddle_onnx_set_windows(heddle_onnx_exporter *job, int window, int stride, int padding);
void heddle_onnx_set_conv(heddle_onnx_exporter *job, const heddle_layer *layer);

// --- onnx_export.c
// ----------------------------------------------------------------------------------------------------

// The graph of a model without batch normalisation folded or anything else changed. The values must outlive it.
heddle_status heddle_onnx_of_model(const heddle_model *model, const float *const *values, heddle_onnx **graph);
// Its ends: images in, and the value of the logits out.
int heddle_onnx_begin_graph(heddle_onnx *graph, const heddle_model *model);
void heddle_onnx_end_graph(heddle_onnx *graph, const heddle_model *model, int logits);
// Notes what a checkpoint says: its model, its training, the names of its classes.
struct heddle_checkpoint;
heddle_status heddle_onnx_note_checkpoint(heddle_onnx *graph, const struct heddle_checkpoint *checkpoint);

// --- onnx_import.c
// ----------------------------------------------------------------------------------------------------

typedef struct heddle_onnx_import_options {
    const heddle_input_shape *input; // what images are like where the file does not say; NULL: it says
    const char *const *class_names;  // NULL: those of the file
    int classes;                     // that are named
} heddle_onnx_import_options;

// As heddle_onnx_import. Creates the checkpoint's folder, but not for a file that cannot be read.
heddle_status heddle_onnx_import_with(const char *path, const heddle_onnx_import_options *options,
                                      const char *checkpoint);

// The network of a graph: a model, and the numbers of each of its parameters, which are the graph's.
typedef struct heddle_onnx_network {
    heddle_model *model;
    const float **values;
    const char *training; // what the file says of it, if heddle wrote the file; or NULL
} heddle_onnx_network;

// `what` names the file in errors and, without its folder and ending, the model.
heddle_status heddle_onnx_to_network(const char *what, heddle_onnx *graph, const heddle_input_shape *input,
                                     heddle_onnx_network *network);
void heddle_onnx_network_free(heddle_onnx_network *network);
// The layers as the graph's nodes say, whatever its metadata has; onnx_graph.c.
heddle_status heddle_onnx_read_layers(const char *what, heddle_onnx *graph, const heddle_input_shape *input,
                                      heddle_onnx_network *network);
