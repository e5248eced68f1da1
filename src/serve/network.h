// A network in use, with all that the page shows of it: opened for a few batch sizes, its test set, its layers' values.
// Not for several threads at once.
#pragma once

#include "heddle/train.h"
#include "nn/activations.h"

struct cJSON;

enum { HEDDLE_SERVE_BATCH = 64 }; // the largest

typedef struct heddle_serve_network heddle_serve_network;

// `folder` is searched first for its dataset; may be NULL.
heddle_status heddle_serve_network_open(heddle_device *device, const char *checkpoint, const char *folder,
                                        heddle_serve_network **network);
void heddle_serve_network_close(heddle_serve_network *network); // NULL is fine

heddle_prepare_options heddle_serve_network_input(const heddle_serve_network *network);
int heddle_serve_network_classes(const heddle_serve_network *network);
const char *heddle_serve_network_class(const heddle_serve_network *network, int index);
// Its name, file, shapes, layers and classes; the caller deletes it.
struct cJSON *heddle_serve_network_about(const heddle_serve_network *network);
// The test images it was trained to recognise; NULL: they are not here, and about says why.
const heddle_dataset *heddle_serve_network_test(const heddle_serve_network *network);

// images (count, channels, height, width) in [0, 1]; probabilities (count, classes). Any count: a few batch sizes have
// plans, which are kept, because making a plan takes longer than predicting some images.
heddle_status heddle_serve_network_predict(heddle_serve_network *network, const float *images, int count,
                                           float *probabilities);
// HEDDLE_DIVERGED: not every one of them is a number.
heddle_status heddle_serve_probabilities_check(const float *probabilities, size_t count);
// What every layer gives for one image, as small pictures: a list that the caller deletes.
heddle_status heddle_serve_network_layers(heddle_serve_network *network, const float *image, struct cJSON **layers);
