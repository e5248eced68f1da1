// cnn_step, rung 8: rung 4 with the convolutions, forward and back, for Hopper, as rung 6, and the hidden layer, too.
//
// Rung 4's kernels were bound by mma.sync, which runs at half of the tensor cores' rate. The hidden layer's were bound
// by bytes: its input is made of the windows' winners on the way to the products, forward and back, and never stored.
//
// Limited by: where batches are large, the backward kernel, whose warps wait for each other and for shared memory, from
// which wgmma takes its operands (backward_wgmma.h), and the power that a card may draw; at small batches the latency
// of the launches, seven a step, six in cnn_train, each of which waits for the one before.

#include "ops/cnn_step/backward_wgmma.h"
#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/hidden_backward_winners.h"
#include "ops/cnn_step/hidden_wgmma.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_bf16> kernels = {
    cnn_launch_forward_wgmma<cnn_bf16>, cnn_launch_hidden_wgmma<cnn_bf16>, cnn_launch_hidden_backward_winners<cnn_bf16>,
    cnn_launch_backward_wgmma<cnn_bf16>};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_bf16>(call, "08_bf16_wgmma", kernels);
}

static heddle_status launch_train(const heddle_call *call)
{
    return cnn_train_rung<cnn_bf16>(call, "08_bf16_wgmma", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "08_bf16_wgmma", launch)
HEDDLE_CUDA_RUNG("cnn_train", "08_bf16_wgmma", launch_train)
