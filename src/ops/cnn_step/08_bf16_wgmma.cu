// cnn_step, rung 8: rung 4 with the forward convolutions for Hopper, as rung 6.
//
// Rung 4's forward kernel was bound by mma.sync, which runs at half of the tensor cores' rate.
//
// Limited by: the backward kernels, whose products are still mma.sync's; and at small batches by the latency of seven
// launches, each of which waits for the one before.

#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/step.h"

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_bf16>(call, "08_bf16_wgmma", cnn_launch_forward_wgmma<cnn_bf16>);
}

HEDDLE_CUDA_RUNG("cnn_step", "08_bf16_wgmma", launch)
