// cnn_step, rung 8: rung 4 with the convolutions and the hidden layer by wgmma, forward and backward.
//
// Rung 4's kernels were limited by mma.sync, which runs at half of the tensor cores' rate. The hidden layer's were
// limited by memory traffic: here its input is computed from the windows' winners on the way to the products, forward
// and backward, and never stored.
//
// Limited by: at large batches, the backward kernel, whose warps wait for each other and for shared memory, from which
// wgmma reads its operands (backward_wgmma.h), and the GPU's power limit; at small batches the latency of the seven
// launches, each of which waits for the one before.

#include "ops/cnn_step/backward_wgmma.h"
#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/hidden_backward_winners.h"
#include "ops/cnn_step/hidden_wgmma.h"
#include "ops/cnn_step/step.h"

const cnn_step_kernels<cnn_bf16> heddle_cnn_step_bf16_wgmma = {cnn_launch_prepare<cnn_bf16>,
                                                               cnn_launch_forward_wgmma<cnn_bf16>,
                                                               cnn_launch_hidden_wgmma<cnn_bf16>,
                                                               cnn_launch_head<cnn_bf16>,
                                                               cnn_launch_hidden_backward_winners<cnn_bf16>,
                                                               cnn_launch_backward_wgmma<cnn_bf16>,
                                                               cnn_launch_finish<cnn_bf16>,
                                                               false};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_bf16>(call, "08_bf16_wgmma", heddle_cnn_step_bf16_wgmma);
}

HEDDLE_CUDA_RUNG("cnn_step", "08_bf16_wgmma", launch)
