// cnn_step, rung 5: nearly float32 on Hopper's tensor cores, with the products of the convolutions and of the hidden
// layer by wgmma.
//
// mma.sync runs at half of the tensor cores' rate, and a float32 product takes three tf32 products. Here a float is two
// halves, scaled into half's range by powers of two; three products of wgmma take an eighth of the time. The powers of
// the weights are constants (prepare.h): weights of conv2 of 64 and more, and of the hidden layer of 256 and more,
// overflow.
//
// Limited by: at large batches, the backward kernel, in which wgmma and conv1's small products alternate
// (backward_wgmma.h); at small batches the latency of the seven launches, each of which waits for the one before.

#include "ops/cnn_step/backward_wgmma.h"
#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/hidden_backward_wgmma.h"
#include "ops/cnn_step/step.h"

const cnn_step_kernels<cnn_tf32x3> heddle_cnn_step_tf32x3_wgmma = {cnn_launch_prepare<cnn_tf32x3>,
                                                                   cnn_launch_forward_wgmma<cnn_tf32x3>,
                                                                   cnn_launch_hidden_winners<cnn_tf32x3>,
                                                                   cnn_launch_head<cnn_tf32x3>,
                                                                   cnn_launch_hidden_backward_wgmma<cnn_tf32x3>,
                                                                   cnn_launch_backward_wgmma<cnn_tf32x3>,
                                                                   cnn_launch_finish<cnn_tf32x3>,
                                                                   true};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32x3>(call, "05_tf32x3_wgmma", heddle_cnn_step_tf32x3_wgmma);
}

HEDDLE_CUDA_RUNG("cnn_step", "05_tf32x3_wgmma", launch)
