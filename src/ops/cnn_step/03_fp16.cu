// cnn_step, rung 3: operands of 16 bits. Half has tf32's mantissa in half the bytes, and an instruction of the tensor
// cores takes twice as many of them.
//
// Rung 2 was limited by the bytes of its operands. What half lacks is range: gradients are those of the sum of losses
// times a scale, and where one overflows nevertheless the step changes nothing (finish.h).
//
// Limited by: latency between barriers at small batches; shared memory's bandwidth at large ones.

#include "ops/cnn_step/forward.h"
#include "ops/cnn_step/step.h"

static heddle_status launch(const heddle_call *call)
{
    const cnn_step_kernels<cnn_fp16> kernels = {cnn_launch_forward<cnn_fp16>};
    return cnn_step_rung<cnn_fp16>(call, "03_fp16", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "03_fp16", launch)
