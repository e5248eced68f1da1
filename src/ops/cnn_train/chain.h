// cnn_train as the operators it is made of: cnn_step, an optimiser's update, step_end, as often as there are steps. The
// reference runs them in float64, the cpu's rungs in their own way.
#ifndef HEDDLE_OPS_CNN_TRAIN_CHAIN_H
#define HEDDLE_OPS_CNN_TRAIN_CHAIN_H

#include "ops/cnn_step/chain.h"
#include "ops/cnn_train/cnn_train.h"

// Bytes of one step's gradients: float64 where `wide`.
size_t heddle_cnn_train_chain_bytes(const heddle_cnn_train_shape *shape, bool wide);

// Runs them all, in order, until one fails. `input` and `output` are cnn_train's; `memory` has those bytes.
heddle_status heddle_cnn_train_chain_run(const heddle_cnn_train_shape *shape, bool wide, const void *const *input,
                                         void *const *output, void *memory, heddle_cnn_step_runner *runner,
                                         void *context);

#endif
