// cnn_step, rung 5: rung 1 with the products of the convolutions and of the hidden layer's gradients for Hopper.
//
// Rung 1's kernels had three products of mma.sync for one, and these run at half of the tensor cores' rate. Here a
// float is two halves, brought into half's range by powers of two; three products of wgmma take an eighth of the time.
// Those of the weights are constants (prepare.h): conv2's of 64 and more, the hidden layer's of 256 and more are lost.
//
// Limited by: where batches are large, the backward kernel, in which wgmma and conv1's small products take turns
// (backward_wgmma.h); at small batches the latency of the launches, seven a step, six in
// cnn_train, each of which waits for the one before.

#include "ops/cnn_step/backward_wgmma.h"
#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/hidden_backward_wgmma.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_tf32x3> kernels = {
    cnn_launch_forward_wgmma<cnn_tf32x3>, cnn_launch_hidden_winners<cnn_tf32x3>,
    cnn_launch_hidden_backward_wgmma<cnn_tf32x3>, cnn_launch_backward_wgmma<cnn_tf32x3>, true};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32x3>(call, "05_tf32x3_wgmma", kernels);
}

static heddle_status launch_train(const heddle_call *call)
{
    return cnn_train_rung<cnn_tf32x3>(call, "05_tf32x3_wgmma", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "05_tf32x3_wgmma", launch)
HEDDLE_CUDA_RUNG("cnn_train", "05_tf32x3_wgmma", launch_train)
