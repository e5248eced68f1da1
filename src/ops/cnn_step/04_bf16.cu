// cnn_step, rung 4: bfloat16 operands, with float's range and three bits less of mantissa than half.
//
// Rung 3 had to scale gradients and look for overflow at the end. Here nothing can overflow that would not in float.
//
// Limited by: as rung 3; and by what the network makes of 8 bits.

#include "ops/cnn_step/forward.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_bf16> kernels = {cnn_launch_forward<cnn_bf16>};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_bf16>(call, "04_bf16", kernels);
}

static heddle_status launch_train(const heddle_call *call)
{
    return cnn_train_rung<cnn_bf16>(call, "04_bf16", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "04_bf16", launch)
HEDDLE_CUDA_RUNG("cnn_train", "04_bf16", launch_train)
