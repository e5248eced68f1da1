// cnn_step, rung 4: bfloat16 operands, with float's range and three bits less mantissa than half.
//
// Rung 3 had to scale gradients and check for overflow at the end. Here nothing can overflow that would not in float.
//
// Limited by: latency between barriers at small batches; shared memory bandwidth at large ones. Accuracy is limited by
// 8 bits of mantissa.

#include "ops/cnn_step/backward.h"
#include "ops/cnn_step/forward.h"
#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_backward.h"
#include "ops/cnn_step/step.h"

const cnn_step_kernels<cnn_bf16> heddle_cnn_step_bf16 = {
    cnn_launch_prepare<cnn_bf16>,         cnn_launch_forward<cnn_bf16>,
    cnn_launch_hidden<cnn_bf16>,          cnn_launch_head<cnn_bf16>,
    cnn_launch_hidden_backward<cnn_bf16>, cnn_launch_backward<cnn_bf16>,
    cnn_launch_finish<cnn_bf16>,          false};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_bf16>(call, "04_bf16", heddle_cnn_step_bf16);
}

HEDDLE_CUDA_RUNG("cnn_step", "04_bf16", launch)
