// Checkpoints: a model's numbers, the optimiser's state and the position of the run in one safetensors file. Parameters
// stand under their own names ("conv1.weight", laid out as in PyTorch), moments under "moment1/conv1.weight".
#pragma once

#include <stdint.h>

#include "data/prepare.h"
#include "heddle/safetensors.h"
#include "nn/state.h"

// The entries of its metadata.
#define HEDDLE_CHECKPOINT_MODEL    "heddle.model"
#define HEDDLE_CHECKPOINT_TRAINING "heddle.training"

// Where a run is, and what it has seen of the current epoch.
typedef struct heddle_position {
    int epoch, batch; // the next batch to train on
    int64_t step;     // steps done
    int64_t left_out; // of them, without an update: their gradients went beyond half precision's range
    double loss_sum;  // over the images of this epoch
    int64_t correct, images;
    int epochs_done;
    double train_loss, train_accuracy; // of the last finished epoch
    double test_loss, test_accuracy;   // after it
    double best_accuracy, best_loss;   // of the epoch that best.safetensors is from
} heddle_position;

heddle_position heddle_position_start(void);

// What a checkpoint says besides the numbers.
typedef struct heddle_checkpoint_about {
    heddle_train_options options;
    heddle_position position;
    char dataset[1024];             // what opens it again
    uint64_t fingerprint;           // of the training data
    heddle_image_traits traits;     // of its images
    const char *const *class_names; // NULL: numbers
    int classes;
} heddle_checkpoint_about;

// Numbers that are not finite are HEDDLE_DIVERGED, and what is at `path` stays.
heddle_status heddle_checkpoint_write(const char *path, const heddle_state *state, heddle_stream *stream,
                                      const heddle_checkpoint_about *about);

// Parameters from host memory, in the model's order, without moments; `training` is what heddle_about_to_json gives.
heddle_status heddle_checkpoint_write_values(const char *path, const heddle_model *model, const float *const *values,
                                             const char *training);

typedef struct heddle_checkpoint heddle_checkpoint;

// Reads and checks a file: every parameter of its model is in it, with its shape. The numbers stay there until loaded.
heddle_status heddle_checkpoint_open(const char *path, heddle_checkpoint **checkpoint);
// The same from memory, which must outlive it; `what` names it in errors.
heddle_status heddle_checkpoint_parse(const char *what, const void *content, size_t size,
                                      heddle_checkpoint **checkpoint);
void heddle_checkpoint_close(heddle_checkpoint *checkpoint);
const heddle_model *heddle_checkpoint_model(const heddle_checkpoint *checkpoint);
const heddle_checkpoint_about *heddle_checkpoint_about_of(const heddle_checkpoint *checkpoint);
// What it says of its training, as in the file.
const char *heddle_checkpoint_training(const heddle_checkpoint *checkpoint);
// The numbers of the model's parameter `index`.
const heddle_array *heddle_checkpoint_array(const heddle_checkpoint *checkpoint, int index);
// Loads the banks that `state` has; every number must be there with the right shape.
heddle_status heddle_checkpoint_load(const heddle_checkpoint *checkpoint, heddle_state *state, heddle_stream *stream);
