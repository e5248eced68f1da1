// The gradients of one training step, as the trainer's own plan computes them, in a file that others can check.
#pragma once

#include "heddle/train.h"

// Runs the first step of the run that `options` describe, and writes a safetensors file: `parameters/NAME` from before
// the step, `gradients/NAME` for each that is trained, `images` (n, c, h, w) as bytes, `labels` (n), `loss`. Models
// with dropout are HEDDLE_UNSUPPORTED.
heddle_status heddle_train_gradients(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                     const heddle_train_options *options, const char *path);
