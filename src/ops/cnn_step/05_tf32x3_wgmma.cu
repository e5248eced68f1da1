// cnn_step, rung 5: rung 1 with the forward convolutions for Hopper.
//
// Rung 1's forward kernel had three products of mma.sync for one, and these run at half of the tensor cores' rate. Here
// a float is three bfloat16, whose six products of wgmma take half the time.
//
// Limited by: the backward kernels, whose products are still mma.sync's; and at small batches by the latency of seven
// launches, each of which waits for the one before.

#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/step.h"

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32x3>(call, "05_tf32x3_wgmma", cnn_launch_forward_wgmma<cnn_tf32x3>);
}

HEDDLE_CUDA_RUNG("cnn_step", "05_tf32x3_wgmma", launch)
