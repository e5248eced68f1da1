// The inside of reading layers from ONNX graphs: onnx_graph.c finds the way from the images to the logits and the
// residuals on it, onnx_nodes.c makes layers of its nodes, onnx_values.c looks at attributes and constants.
#pragma once

#include <cjson/cJSON.h>

#include "nn/onnx.h"

// What a value is for one sample. `rank` is heddle's: 3 of images, 1 of features. ONNX may still have two dimensions of
// size 1 where heddle has features, which is `keeps`.
typedef struct heddle_onnx_sample {
    int rank, dims[3];
    bool keeps;
} heddle_onnx_sample;

typedef struct heddle_onnx_reader {
    const char *what;
    heddle_onnx *graph;
    // By value. The dominator is the nearest value that everything from the images to this one goes through.
    int *dominator, *depth;
    heddle_onnx_sample *samples; // rank 0: not known yet
    int nested;                  // lists of layers around the present place
    int looked;                  // at values, by heddle_onnx_integers
    const float **values;        // of parameters, in the order of their layers
    size_t *sizes;               // of each, in elements
    int value_count, most_values;
    bool shared;     // there were more: a layer is on several ways
    size_t may_copy; // elements of stored tensors: a small file must not grow without end
} heddle_onnx_reader;

// A list of layers that is being made, and what the last of them gives.
typedef struct heddle_onnx_layers {
    cJSON *json;
    heddle_onnx_sample sample;
    int used; // values of the way that the latest step made layers of
} heddle_onnx_layers;

// Part of the way: values one after another, each computed from the one before it.
typedef struct heddle_onnx_way {
    const int *values;
    int count;
} heddle_onnx_way;

// --- onnx_values.c
// ------------------------------------------------------------------------------------------------------

heddle_status heddle_onnx_refuse(const heddle_onnx_reader *reader, const heddle_onnx_node *node, heddle_status status,
                                 const char *format, ...) HEDDLE_PRINTF(4, 5);
const heddle_onnx_node *heddle_onnx_node_of(const heddle_onnx_reader *reader, int value); // that computes it, or NULL
bool heddle_onnx_is(const heddle_onnx_node *node, const char *op);
bool heddle_onnx_is_image(const heddle_onnx_reader *reader, int value); // computed from the images
// Attributes, or what they are where they are left out.
heddle_status heddle_onnx_int(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                              int64_t otherwise, int64_t *integer);
heddle_status heddle_onnx_real(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                               float otherwise, float *real);
// `count` integers that are all the same.
heddle_status heddle_onnx_same(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                               int count, int64_t otherwise, int64_t *integer);
// Input `index`, which must be a tensor of float32 in the file. *tensor is NULL if it is left out and may be.
heddle_status heddle_onnx_stored(const heddle_onnx_reader *reader, const heddle_onnx_node *node, int index,
                                 bool may_lack, const heddle_onnx_tensor **tensor);
// A stored number, as good as equal to this one?
bool heddle_onnx_is_number(const heddle_onnx_reader *reader, int value, double number);
// `op` of a value and a stored number; gives the value.
bool heddle_onnx_is_with_number(const heddle_onnx_reader *reader, int value, const char *op, double number, int *other);
// Room for a changed copy of so many stored numbers; NULL leaves a message.
float *heddle_onnx_copy(heddle_onnx_reader *reader, size_t elements);
// Results of nodes that only move or turn what is stored become stored themselves.
heddle_status heddle_onnx_fold(heddle_onnx_reader *reader);

enum { HEDDLE_ONNX_INTEGERS = 8 };
#define HEDDLE_ONNX_BATCH INT64_MIN // in place of an integer: the number of images
// A list of integers that is stored, or computed from sizes. false: it is not known.
bool heddle_onnx_integers(heddle_onnx_reader *reader, int value, int64_t integers[HEDDLE_ONNX_INTEGERS], int *count);

// --- onnx_nodes.c
// -------------------------------------------------------------------------------------------------------

// Makes layers of the first values of the way; `used` of the list is then how many.
heddle_status heddle_onnx_step(heddle_onnx_reader *reader, const heddle_onnx_way *way, heddle_onnx_layers *layers);
