// linear, rung 1: one thread per element of each result.
//
// Limited by: two loads from global memory per multiplication. Forward, neighbouring threads read rows of the weight,
// which are `in` floats apart: 32 sectors per request.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input: (n, in), weight: (out, in), bias: (out) or NULL, output: (n, out)
__global__ void linear_forward(heddle_linear_shape shape, const float *input, const float *weight, const float *bias,
                               float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.n * shape.out)
        return;
    size_t i = at / shape.out, o = at % shape.out;
    float sum = 0;
    for (int p = 0; p < shape.in; p++)
        sum += input[i * shape.in + p] * weight[o * shape.in + p];
    output[at] = bias ? sum + bias[o] : sum;
}

// grad_input (n, in) = grad_output (n, out) * weight (out, in)
__global__ void linear_grad_input(heddle_linear_shape shape, const float *weight, const float *grad_output,
                                  float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.n * shape.in)
        return;
    size_t i = at / shape.in, p = at % shape.in;
    float sum = 0;
    for (int o = 0; o < shape.out; o++)
        sum += grad_output[i * shape.out + o] * weight[(size_t)o * shape.in + p];
    grad_input[at] = sum;
}

// grad_weight (out, in) = grad_output (n, out)ᵀ * input (n, in)
__global__ void linear_grad_weight(heddle_linear_shape shape, const float *input, const float *grad_output,
                                   float *grad_weight)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.out * shape.in)
        return;
    size_t o = at / shape.in, p = at % shape.in;
    float sum = 0;
    for (int i = 0; i < shape.n; i++)
        sum += grad_output[(size_t)i * shape.out + o] * input[(size_t)i * shape.in + p];
    grad_weight[at] = sum;
}

__global__ void linear_grad_bias(heddle_linear_shape shape, const float *grad_output, float *grad_bias)
{
    size_t o = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= (size_t)shape.out)
        return;
    float sum = 0;
    for (int i = 0; i < shape.n; i++)
        sum += grad_output[(size_t)i * shape.out + o];
    grad_bias[o] = sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    const float *input = (const float *)call->input[0], *weight = (const float *)call->input[1];
    const float *bias = (const float *)call->input[2];
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->out);
    if (blocks > 0)
        linear_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(*shape, input, weight, bias,
                                                                                      (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    const float *input = (const float *)call->input[0], *weight = (const float *)call->input[1];
    const float *grad_output = (const float *)call->input[2];
    float *grad_input = (float *)call->output[0], *grad_weight = (float *)call->output[1];
    float *grad_bias = (float *)call->output[2];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    unsigned input_blocks = heddle_cuda_blocks((size_t)shape->n * shape->in);
    unsigned weight_blocks = heddle_cuda_blocks((size_t)shape->out * shape->in);
    unsigned bias_blocks = heddle_cuda_blocks(shape->out);
    if (grad_input && input_blocks > 0)
        linear_grad_input<<<input_blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, weight, grad_output, grad_input);
    if (grad_weight && weight_blocks > 0)
        linear_grad_weight<<<weight_blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, input, grad_output, grad_weight);
    if (grad_bias && bias_blocks > 0)
        linear_grad_bias<<<bias_blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, grad_output, grad_bias);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("linear_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("linear_backward", "01_naive", launch_backward)
