// What every layer of a network gives for one image, to look at. It computes layer by layer, without fusion, so that
// nothing in between is lost; predictions themselves are network.c's.
#pragma once

#include "nn/network.h"

typedef struct heddle_activations heddle_activations;

// The network must outlive it.
heddle_status heddle_activations_create(heddle_network *network, heddle_activations **activations);
void heddle_activations_destroy(heddle_activations *activations); // NULL is fine
// image (channels, height, width) in [0, 1] on the host. Waits for the results.
heddle_status heddle_activations_run(heddle_activations *activations, const float *image);

// One layer of the model's own list: one that holds others is seen as a whole.
typedef struct heddle_activation {
    const char *name; // "conv1"
    int rank, dims[3];
    const float *values; // as of the latest run
} heddle_activation;
int heddle_activations_count(const heddle_activations *activations);
heddle_activation heddle_activations_layer(const heddle_activations *activations, int index);
