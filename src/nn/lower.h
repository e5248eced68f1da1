// From a model to a trace: the operators that compute a step of it.
#pragma once

#include "nn/layers.h"
#include "nn/model.h"

enum {
    HEDDLE_MAX_DROPOUTS = 32,
    HEDDLE_RANDOM_WORDS = 3, // of dropout's `random` operand: seed, sequence, position
    HEDDLE_BLOCK_LAYERS = 4, // conv2d, batchnorm2d, relu, maxpool2d
};

struct heddle_lowering {
    heddle_trace *trace;
    const heddle_model *model;
    int batch;
    bool training;
    heddle_tier kernels;
    heddle_arithmetic arithmetic;
    heddle_device_kind device;
    bool several_ranks;             // the batch is spread over processes
    const heddle_value *parameters; // a value for each of the model's parameter specs
    // The random state of each dropout layer, in layer order; filled in by the lowering.
    heddle_value dropout_random[HEDDLE_MAX_DROPOUTS];
    int dropout_elements[HEDDLE_MAX_DROPOUTS];
    int dropouts;
};

// images (batch, channels, height, width) → logits (batch, classes)
heddle_status heddle_lower_model(heddle_lowering *lowering, heddle_value images, heddle_value *logits);

// Do the first of these layers make a block that the fused operators compute?
bool heddle_is_block(const heddle_layer *layers, int count);

// --- for the files of layer types ------------------------------------------------------------------------------------

// The layers one after another, fused where the lowering says so.
heddle_status heddle_lower_layers(heddle_lowering *lowering, const heddle_layer_list *list, heddle_value input,
                                  heddle_value *output);

// The value of a layer's parameter, HEDDLE_NO_VALUE if it has none of that name.
heddle_value heddle_lower_parameter(const heddle_lowering *lowering, const heddle_layer *layer, const char *name);
// Applies an operator, whose operand "output" is *output. Operands bound to HEDDLE_NO_VALUE are left out.
heddle_status heddle_lower_op(heddle_lowering *lowering, const char *op_name, const void *shape,
                              const heddle_binding *bound, int count, heddle_value *output);
// Gives *output, of an operator that sees only a row of elements, the layer's shape again.
heddle_status heddle_lower_reshape(heddle_lowering *lowering, const heddle_layer *layer, heddle_value *output);
// Elements of a batch of samples of `dims`, as the single number that an operator over elements takes.
heddle_status heddle_lower_elements(const heddle_lowering *lowering, int rank, const int *dims, int *count);
// A random state of its own for a layer that draws `elements` numbers in each step.
heddle_status heddle_lower_random(heddle_lowering *lowering, int elements, heddle_value *random);
