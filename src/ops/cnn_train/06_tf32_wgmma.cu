// cnn_train, rung 6: the kernels of cnn_step's rung 6; the last one updates the parameters, as in rung 4.
//
// Limited by: the same as cnn_step's rung 6; at small batches the latency of six launches per step, each of which waits
// for the one before.

#include "ops/cnn_train/train.h"

static heddle_status launch(const heddle_call *call)
{
    return cnn_train_rung<cnn_tf32>(call, "06_tf32_wgmma", heddle_cnn_step_tf32_wgmma);
}

HEDDLE_CUDA_RUNG("cnn_train", "06_tf32_wgmma", launch)
