// cnn_step, rung 6: rung 2 with the products of the convolutions and of the hidden layer's gradients for Hopper.
//
// Rung 2's kernels were bound by mma.sync, which runs at half of the tensor cores' rate. wgmma reads its operands
// from shared memory by itself and runs at all of it; and products take halves, whose mantissa is as long as tf32's,
// brought into their range by powers of two: twice the rate again. Those of the weights are constants (prepare.h):
// conv2's of 64 and more, the hidden layer's of 256 and more are lost. The windows' winners are found where conv2's
// output is made, so that the hidden layer's kernel reads a quarter of it.
//
// Limited by: where batches are large, the backward kernel, whose warps wait for each other and for shared memory, from
// which wgmma takes its operands (backward_wgmma.h), and the power that a card may draw; at small batches the latency
// of the launches, seven a step, six in cnn_train, each of which waits for the one before.

#include "ops/cnn_step/backward_wgmma.h"
#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/hidden_backward_wgmma.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_tf32> kernels = {
    cnn_launch_forward_wgmma<cnn_tf32>, cnn_launch_hidden_winners<cnn_tf32>, cnn_launch_hidden_backward_wgmma<cnn_tf32>,
    cnn_launch_backward_wgmma<cnn_tf32>, true};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32>(call, "06_tf32_wgmma", kernels);
}

static heddle_status launch_train(const heddle_call *call)
{
    return cnn_train_rung<cnn_tf32>(call, "06_tf32_wgmma", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "06_tf32_wgmma", launch)
HEDDLE_CUDA_RUNG("cnn_train", "06_tf32_wgmma", launch_train)
