// What the naive CPU rungs of conv_block and stem_block share.
#pragma once

#include "ops/conv_block/places.h"

// Stores the statistics of channel k, and updates the running ones.
void heddle_conv_block_keep_statistics(const block_shape *shape, const heddle_conv_block_forward_operands *operands,
                                       int k, double mean, double variance);

// code: NULL if it is not needed.
float heddle_conv_block_relu_of_maximum(const float window[4], uint8_t *code);
