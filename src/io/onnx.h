// ONNX files as graphs: nodes in the order they run, the values between them, tensors that are stored in the file. What
// an operator means is nn's business. onnx.c builds graphs, onnx_read.c and onnx_write.c know the format of the file,
// for which they need protobuf-c: without it they say so.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "heddle/safetensors.h"
#include "heddle/status.h"

enum {
    HEDDLE_ONNX_RANK = 8,
    HEDDLE_ONNX_NONE = -1, // in place of a value: an input that is left out; in place of a node: nothing computes it
    HEDDLE_ONNX_ANY = -1,  // in place of a size: whatever the caller brings
};

// The format's numbers of the types that are used here; a tensor may have another.
typedef enum heddle_onnx_type {
    HEDDLE_ONNX_FLOAT = 1,
    HEDDLE_ONNX_INT8 = 3,
    HEDDLE_ONNX_INT32 = 6,
    HEDDLE_ONNX_INT64 = 7,
    HEDDLE_ONNX_BOOL = 9,
} heddle_onnx_type;

typedef struct heddle_onnx_tensor {
    int type, rank;
    int64_t dims[HEDDLE_ONNX_RANK];
    size_t elements;
    const void *data; // aligned for its type
} heddle_onnx_tensor;

typedef enum heddle_onnx_kind {
    HEDDLE_ONNX_IS_FLOAT = 1, // the format's numbers
    HEDDLE_ONNX_IS_INT = 2,
    HEDDLE_ONNX_IS_TEXT = 3,
    HEDDLE_ONNX_IS_TENSOR = 4,
    HEDDLE_ONNX_IS_FLOATS = 6,
    HEDDLE_ONNX_IS_INTS = 7,
} heddle_onnx_kind;

typedef struct heddle_onnx_attribute {
    const char *name;
    heddle_onnx_kind kind;
    float real;
    int64_t integer;
    const char *text;
    heddle_onnx_tensor tensor;
    const float *reals;
    const int64_t *integers;
    int count; // of reals or integers
} heddle_onnx_attribute;

typedef struct heddle_onnx_node {
    const char *op, *name, *domain; // domain: "" of ONNX's own operators
    const int *inputs, *outputs;    // values
    int input_count, output_count;
    heddle_onnx_attribute *attributes;
    int attribute_count;
} heddle_onnx_node;

typedef struct heddle_onnx_value {
    const char *name;
    int node;                           // that computes it, or HEDDLE_ONNX_NONE
    const heddle_onnx_tensor *constant; // what it always is: an initialiser, or the result of a Constant node; or NULL
} heddle_onnx_value;

typedef struct heddle_onnx_port {
    int value, type, rank;
    int64_t dims[HEDDLE_ONNX_RANK]; // HEDDLE_ONNX_ANY where the file has a name or nothing
} heddle_onnx_port;

typedef struct heddle_onnx {
    const char *name;     // of the graph
    const char *producer; // "pytorch 2.8.0"
    int64_t opset;
    heddle_onnx_node *nodes; // sorted: each reads what stands before it
    heddle_onnx_value *values;
    heddle_onnx_tensor **initialisers; // by value; NULL where it is none
    int node_count, node_room, value_count, value_room;
    heddle_onnx_port input, output; // one image in, one row of logits out
    heddle_text_pair *metadata;
    int metadata_count, metadata_room;
    heddle_arena *arena;
    bool exhausted; // building it found no memory; it must not be used
    void *file;     // what a file that was read left in memory
} heddle_onnx;

// Whether this build reads and writes the files. If not, heddle_onnx_open and heddle_onnx_write are HEDDLE_MISSING.
bool heddle_onnx_is_built(void);

// Reads a file and checks it: whatever a node reads is there, computed before, and no tensor is larger or smaller than
// its shape says. Operators are not looked at.
heddle_status heddle_onnx_open(const char *path, heddle_onnx **graph);
// The same from memory, which is not needed any more afterwards; `what` names it in errors.
heddle_status heddle_onnx_parse(const char *what, const void *content, size_t size, heddle_onnx **graph);
void heddle_onnx_close(heddle_onnx *graph);

const heddle_onnx_attribute *heddle_onnx_attribute_of(const heddle_onnx_node *node, const char *name); // or NULL
const char *heddle_onnx_metadata_of(const heddle_onnx *graph, const char *key);                        // or NULL

// --- building
// ---------------------------------------------------------------------------------------------------------

// NULL when out of memory. What is added later finds that out for itself: see `exhausted`.
heddle_onnx *heddle_onnx_create(const char *name);
// Memory that lives as long as the graph; NULL when out of memory.
void *heddle_onnx_room(heddle_onnx *graph, size_t bytes);
// These give the new value. Names are copied; the data of a constant must outlive the graph.
int heddle_onnx_input(heddle_onnx *graph, const char *name, int rank, const int64_t *dims);
int heddle_onnx_constant(heddle_onnx *graph, const char *name, int type, int rank, const int64_t *dims,
                         const void *data);
// A node with one output, and its attributes one by one behind it.
int heddle_onnx_apply(heddle_onnx *graph, const char *op, const char *name, const int *inputs, int input_count,
                      const char *output);
void heddle_onnx_set_int(heddle_onnx *graph, const char *name, int64_t integer);
void heddle_onnx_set_float(heddle_onnx *graph, const char *name, float real);
void heddle_onnx_set_ints(heddle_onnx *graph, const char *name, const int64_t *integers, int count);
void heddle_onnx_output(heddle_onnx *graph, int value, int rank, const int64_t *dims);
void heddle_onnx_note(heddle_onnx *graph, const char *key, const char *text);

// Writes the whole file or nothing.
heddle_status heddle_onnx_write(const char *path, const heddle_onnx *graph);
// The same to memory that the caller frees.
heddle_status heddle_onnx_pack(const char *what, const heddle_onnx *graph, uint8_t **content, size_t *size);
