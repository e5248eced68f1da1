// From a model to a trace: the operators that compute a step of it.
#ifndef HEDDLE_NN_LOWER_H
#define HEDDLE_NN_LOWER_H

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

// Do the layers from `index` on make a block that the fused operators compute?
bool heddle_is_block(const heddle_model *model, int index);

// Called through the layer table.
heddle_status heddle_lower_conv2d(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);
heddle_status heddle_lower_batchnorm2d(heddle_lowering *, const heddle_layer *, heddle_value input,
                                       heddle_value *output);
heddle_status heddle_lower_pool2d(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);
heddle_status heddle_lower_elements(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);
heddle_status heddle_lower_rows(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);
heddle_status heddle_lower_flatten(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);
heddle_status heddle_lower_linear(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);
heddle_status heddle_lower_dropout(heddle_lowering *, const heddle_layer *, heddle_value input, heddle_value *output);

#endif
