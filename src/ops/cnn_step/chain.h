// cnn_step as the operators it is made of: gather, stem_block, conv_block, linear, relu, linear, cross_entropy, and the
// gradients of all but the first.
#pragma once

#include "ops/cnn_step/cnn_step.h"

typedef struct heddle_cnn_step_chain {
    heddle_gather_shape gather;
    heddle_conv_block_shape stem, block; // channels last between them; the result is flattened channels first
    heddle_linear_shape hidden;
    heddle_elements_shape relu;
    heddle_linear_shape output;
    heddle_rows_shape loss;
} heddle_cnn_step_chain;

heddle_cnn_step_chain heddle_cnn_step_chain_of(const heddle_cnn_step_shape *shape);
