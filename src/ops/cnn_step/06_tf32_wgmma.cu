// cnn_step, rung 6: tf32, with the products of the convolutions and of the hidden layer by wgmma.
//
// Rung 5 spent three products on the last bits of float32. Here products take one half per float, with as much mantissa
// as tf32, scaled into its range by powers of two as in rung 5. conv2's output is stored in half: a third less memory
// traffic per step. wgmma reads its operands from shared memory by itself. The windows' winners are found where conv2's
// output is computed, so that the hidden layer's kernel reads a quarter of it.
//
// Limited by: at large batches, the backward kernel, whose warps wait for each other and for shared memory, from which
// wgmma reads its operands (backward_wgmma.h), and the GPU's power limit; at small batches the latency of the seven
// launches, each of which waits for the one before.

#include "ops/cnn_step/backward_wgmma.h"
#include "ops/cnn_step/forward_wgmma.h"
#include "ops/cnn_step/hidden_backward_wgmma.h"
#include "ops/cnn_step/step.h"

const cnn_step_kernels<cnn_tf32> heddle_cnn_step_tf32_wgmma = {cnn_launch_prepare<cnn_tf32>,
                                                               cnn_launch_forward_wgmma<cnn_tf32>,
                                                               cnn_launch_hidden_winners<cnn_tf32>,
                                                               cnn_launch_head<cnn_tf32>,
                                                               cnn_launch_hidden_backward_wgmma<cnn_tf32>,
                                                               cnn_launch_backward_wgmma<cnn_tf32>,
                                                               cnn_launch_finish<cnn_tf32>,
                                                               true};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32>(call, "06_tf32_wgmma", heddle_cnn_step_tf32_wgmma);
}

HEDDLE_CUDA_RUNG("cnn_step", "06_tf32_wgmma", launch)
