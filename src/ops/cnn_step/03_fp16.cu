// cnn_step, rung 3: one step as seven kernels on tensor cores (layout.h names them), with 16-bit operands.
//
// Layer by layer, every activation goes through memory several times. Here a kernel takes an image or a tile of samples
// through several layers, and half has tf32's mantissa in half the bytes. What half lacks is range: gradients are those
// of the sum of losses times a scale, and if one still overflows, the step changes nothing (finish.h).
//
// Limited by: latency between barriers at small batches; shared memory bandwidth at large ones.

#include "ops/cnn_step/backward.h"
#include "ops/cnn_step/forward.h"
#include "ops/cnn_step/hidden.h"
#include "ops/cnn_step/hidden_backward.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_fp16> kernels = {cnn_launch_prepare<cnn_fp16>,         cnn_launch_forward<cnn_fp16>,
                                                   cnn_launch_hidden<cnn_fp16>,          cnn_launch_head<cnn_fp16>,
                                                   cnn_launch_hidden_backward<cnn_fp16>, cnn_launch_backward<cnn_fp16>,
                                                   cnn_launch_finish<cnn_fp16>,          false};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_fp16>(call, "03_fp16", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "03_fp16", launch)
