// conv_block, rung 1: one kernel per layer, one thread per element (layers.h).
//
// Forward: convolution, statistics, then batchnorm with relu and pooling. Backward: the gradients through pooling and
// relu, the sums of batchnorm's gradient, the gradient through batchnorm, the gradients of the weight and of the input.
// Everything between two layers goes to memory and back.
//
// Limited by: the convolutions, which load two numbers and check two bounds per multiplication. The gradient of the
// weight has one thread per weight, each with a sum over the whole batch. The statistics have only one block per
// channel, which reads one float of every k.

#include "ops/conv_block/layers.h"

static heddle_status launch_forward(const heddle_call *call)
{
    const float *const *input = (const float *const *)call->input;
    conv_block_launch_layers_forward(heddle_cuda_stream_of(call), *(const conv_block_shape *)call->shape, input[0],
                                     input[1], input[3], input[4], conv_block_statistics_of(call),
                                     (float *)call->output[1], (float *)call->output[0], (uint8_t *)call->output[4]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    conv_block_layers_backward of;
    of.input = (const float *)call->input[0];
    of.weight = (const float *)call->input[1];
    of.gamma = (const float *)call->input[2];
    of.convolution = (const float *)call->input[4];
    of.mean = (const float *)call->input[5];
    of.inverse_std = (const float *)call->input[6];
    of.code = (const uint8_t *)call->input[7];
    of.grad_output = (const float *)call->input[8];
    of.grad = (float *)call->workspace;
    of.grad_input = (float *)call->output[0];
    of.grad_weight = (float *)call->output[1];
    of.grad_bias = (float *)call->output[2];
    of.grad_gamma = (float *)call->output[3];
    of.grad_beta = (float *)call->output[4];
    conv_block_launch_layers_backward(heddle_cuda_stream_of(call), *(const conv_block_shape *)call->shape, of);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_inference(const heddle_call *call)
{
    conv_block_launch_layers_inference(call);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("conv_block_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("conv_block_backward", "01_naive", launch_backward)
HEDDLE_CUDA_RUNG("conv_block_inference", "01_naive", launch_inference)
