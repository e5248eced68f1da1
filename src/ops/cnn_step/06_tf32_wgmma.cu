// cnn_step, rung 6: rung 2 with the forward convolutions for Hopper.
//
// Rung 2's forward kernel was bound by mma.sync, which runs at half of the tensor cores' rate. wgmma reads its operands
// from shared memory by itself and runs at all of it.
//
// Limited by: the backward kernels, whose products are still mma.sync's; and at small batches by the latency of seven
// launches, each of which waits for the one before.

#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/step.h"

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32>(call, "06_tf32_wgmma", cnn_launch_forward_wgmma<cnn_tf32>);
}

HEDDLE_CUDA_RUNG("cnn_step", "06_tf32_wgmma", launch)
