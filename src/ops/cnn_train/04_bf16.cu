// cnn_train, rung 4: the kernels of cnn_step's rung 4; the last one updates the parameters.
//
// After cnn_step an optimiser reads and writes every parameter once more, and the next step packs them first. Here the
// kernel that adds the gradients also updates, packs and folds the parameters for the next step: six launches per step
// instead of eight.
//
// Limited by: the same as cnn_step's rung 4.

#include "ops/cnn_train/train.h"

static heddle_status launch(const heddle_call *call)
{
    return cnn_train_rung<cnn_bf16>(call, "04_bf16", heddle_cnn_step_bf16);
}

HEDDLE_CUDA_RUNG("cnn_train", "04_bf16", launch)
