// cnn_step, rung 1: float operands on tensor cores, each split in two tf32 numbers where they meet, three products for
// one. Nearly float32's accuracy; seven kernels, each in a header of its own (layout.h names them).
//
// Limited by: the tensor cores, three times what one product takes, and the splitting itself, which is done anew for
// every product that an operand takes part in.

#include "ops/cnn_step/forward.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_tf32x3> kernels = {cnn_launch_forward<cnn_tf32x3>};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32x3>(call, "01_tf32x3", kernels);
}

static heddle_status launch_train(const heddle_call *call)
{
    return cnn_train_rung<cnn_tf32x3>(call, "01_tf32x3", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "01_tf32x3", launch)
HEDDLE_CUDA_RUNG("cnn_train", "01_tf32x3", launch_train)
