// Networks over rows of 16-bit elements (heddle/ops.h): a model's layers are grouped by what they are, each group
// becomes two or three operators forward and as many backward, and no layer is looked for by name of its network.
//
// A group is a product (convolution or linear layer) with what follows it: batchnorm, a function, pooling. The product
// adds the bias and, where batchnorm follows, the channels' sums; where nothing but a function follows, it applies that
// as well. Anything else is one more operator, rows_norm, which also writes the frame that the next product wants. The
// last group of a residual's layers adds the way around there. Pooling that follows no product is a group of its own.
// Small convolutions that a model begins with are one operator all together, rows_trunk. In inference the first group
// can be one operator, rows_stem, and a convolution with the function and the pooling behind it another,
// rows_conv_pool.
#pragma once

#include "heddle/ops.h"
#include "nn/plan.h"

enum { HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS = 64 };

// Where a product's input comes from.
typedef enum heddle_rows_source {
    HEDDLE_ROWS_FROM_DATASET, // patches or features, gathered from bytes: the first group
    HEDDLE_ROWS_SHIFTED,      // a 3x3 filter over a frame, each tap a shift
    HEDDLE_ROWS_PATCHES,      // any other filter: what it sees is written out as patches first
    HEDDLE_ROWS_FEATURES,     // a linear layer
    HEDDLE_ROWS_FRAME,        // a frame as it is: pooling alone
} heddle_rows_source;

// A parameter's place in the buffers of heddle_rows: in elements, -1 for none.
typedef struct heddle_rows_segment {
    int parameter; // index in the model
    int k, c, taps, padded_k, padded_c;
    int columns; // of a row of its copy: one tap's, or all of them
    int parts, part, copy, vector;
    bool stepped; // by its group's own operator, not by rows_update
} heddle_rows_segment;

typedef struct heddle_rows_group {
    const heddle_layer *product, *norm; // NULL without
    int from;                           // the group whose result it reads; -1: the dataset
    int around;                         // the group whose result is added before the function; -1: none
    heddle_rows_function function;
    int window, average; // of the pooling; 1: none
    heddle_rows_source source;
    bool passes;   // rows_norm follows the product
    bool pools;    // the product does what rows_norm would: rows_conv_pool
    bool flat;     // what the group leaves are images that linear layers read as rows
    bool in_trunk; // it is a stage of rows_trunk, not a product of its own
    bool in_stem;  // it is rows_stem's, all of it
    bool steps;    // rows_linear_step updates its parameters where it makes their gradients
    heddle_rows_conv_shape shape;
    int out_h, out_w;              // results of the product, of one image
    int next_h, next_w;            // what the group leaves
    int gap;                       // of the frame that rows_norm writes
    int weight, bias, gamma, beta; // segments; -1: none
    // Of bytes: where a product's scales and its bias, in the same units, are among the vectors, -1 for none; and the
    // factors of rows_norm.
    int scale, shift;
    float norm_scale, add_scale;
    float unit, product_unit; // what a byte is worth that the group leaves, and before the way around is added
    // Values of the trace.
    heddle_value frame;  // what the group before left; HEDDLE_NO_VALUE for the first group
    heddle_value input;  // of the product: the frame, patches of it or features
    heddle_value output; // of the product
    heddle_value sums;
    heddle_value left;      // what the group leaves: output, or what rows_norm made of it
    heddle_value gradient;  // of what it leaves, and once the way back has passed rows_norm, of output
    heddle_value more;      // the rest of the former, where two groups read it
    heddle_value grad_bias; // if it is known before that of the weight
} heddle_rows_group;

// Device memory of a plan over rows, and the groups it is for.
typedef struct heddle_rows {
    heddle_rows_group groups[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS];
    int group_count;
    heddle_rows_segment segments[4 * HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS];
    int segment_count;
    heddle_rows_trunk_shape trunk;   // of the first groups, if they are in one
    int half;                        // elements are IEEE halves, for tf32; else bf16
    int pairs;                       // elements are pairs of IEEE halves, for tf32x3
    int int8;                        // elements are bytes, but for the weights of the first convolutions
    int alignment;                   // of channels; 0: that of 16-bit elements
    heddle_rows_update_shape update; // sizes of the buffers below
    int rest_segments, rest_tiles;   // of these, what rows_update has to do: the first ones
    int arrivals;                    // counters given out
    const heddle_layer *misfit;      // the first layer that is none of these rules'; NULL: none, or not one alone
    void *memory;
    int32_t *table;
    uint16_t *copies; // 16-bit elements
    float *parts, *vectors;
    int32_t *arrived;
} heddle_rows;

// --- rows_groups.c ---------------------------------------------------------------------------------------------------

// Groups the model's layers for batches of `batch`; false where some layer, or their order, is none of these rules',
// and `misfit` is that layer. Reads `half`, `pairs` and `alignment`.
bool heddle_rows_group_layers(const heddle_model *model, int batch, heddle_rows *rows);

// Why `misfit` does not fit, to be said behind its name: " (gelu)", or where a layer of its type would.
const char *heddle_rows_misfit_reason(const heddle_layer *misfit, char *text, size_t size);

// The type of elements.
heddle_dtype heddle_rows_dtype(const heddle_rows *rows);

// --- rows_trunk.c ----------------------------------------------------------------------------------------------------

// Makes a trunk of the first groups, if they are small convolutions with a linear layer behind them: rows->trunk, and
// in_trunk of each.
void heddle_rows_find_trunk(const heddle_plan *plan, const heddle_model *model, heddle_rows *rows);
// How many of them there are.
int heddle_rows_trunk_groups(const heddle_rows *rows);

// --- rows_memory.c ---------------------------------------------------------------------------------------------------

// Gives every parameter its places, allocates, and uploads the table; counters begin as zero.
heddle_status heddle_rows_place(heddle_plan *plan, const heddle_state *state, heddle_stream *stream, heddle_rows *rows);
void heddle_rows_destroy(heddle_plan *plan);

// --- rows.c ----------------------------------------------------------------------------------------------------------

// Where the model, the device and the arithmetic allow it: appends the operators of a step, update included, and sets
// *made.
heddle_status heddle_plan_rows(heddle_plan *plan, heddle_state *state, heddle_stream *stream,
                               const heddle_value *parameters, bool *made);
