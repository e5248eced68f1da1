// Optimisers, rung 1: a thread a parameter, as the papers write them.
//
// Limited by: bytes: every parameter, gradient and moment is read, and all but the gradient written, once a step.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// grad, parameter and states: (n), hyper: (HEDDLE_HYPER_COUNT)
__global__ void sgd_update(int n, const float *grad, const float *hyper, float *parameter)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    float slope = grad[i] + hyper[HEDDLE_HYPER_WEIGHT_DECAY] * parameter[i];
    parameter[i] -= hyper[HEDDLE_HYPER_LEARNING_RATE] * slope;
}

__global__ void momentum_update(int n, const float *grad, const float *hyper, float *parameter, float *velocity)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    float slope = grad[i] + hyper[HEDDLE_HYPER_WEIGHT_DECAY] * parameter[i];
    velocity[i] = hyper[HEDDLE_HYPER_MOMENTUM] * velocity[i] + slope;
    parameter[i] -= hyper[HEDDLE_HYPER_LEARNING_RATE] * velocity[i];
}

__global__ void adamw_update(int n, const float *grad, const float *hyper, float *parameter, float *first_moment,
                             float *second_moment)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    float rate = hyper[HEDDLE_HYPER_LEARNING_RATE];
    float beta1 = hyper[HEDDLE_HYPER_MOMENTUM], beta2 = hyper[HEDDLE_HYPER_BETA2];
    first_moment[i] = beta1 * first_moment[i] + (1.0f - beta1) * grad[i];
    second_moment[i] = beta2 * second_moment[i] + (1.0f - beta2) * grad[i] * grad[i];
    float mean = first_moment[i] / hyper[HEDDLE_HYPER_CORRECTION1];
    float square = second_moment[i] / hyper[HEDDLE_HYPER_CORRECTION2];
    parameter[i] -= rate * hyper[HEDDLE_HYPER_WEIGHT_DECAY] * parameter[i];
    parameter[i] -= rate * mean / (sqrtf(square) + hyper[HEDDLE_HYPER_EPSILON]);
}

static int elements(const heddle_call *call)
{
    return ((const heddle_elements_shape *)call->shape)->n;
}

static heddle_status launch_sgd(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        sgd_update<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_momentum(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        momentum_update<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
            (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_adamw(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(elements(call));
    if (blocks > 0)
        adamw_update<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            elements(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
            (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("sgd_update", "01_naive", launch_sgd)
HEDDLE_CUDA_RUNG("momentum_update", "01_naive", launch_momentum)
HEDDLE_CUDA_RUNG("adamw_update", "01_naive", launch_adamw)
