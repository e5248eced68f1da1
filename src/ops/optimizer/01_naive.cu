// Optimisers, rung 1: one thread per parameter, as in the papers.
//
// Limited by: memory bandwidth: every parameter, gradient and moment is read, and all but the gradient written, once
// per step.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/optimizer/step.h"

__device__ static float decay_of(heddle_update_shape shape, const float *hyper, size_t index)
{
    return index < (size_t)(shape.n - shape.undecayed) ? hyper[HEDDLE_HYPER_WEIGHT_DECAY] : 0;
}

// grad, parameter and states: (n), hyper: (HEDDLE_HYPER_COUNT)
__global__ void sgd_update_naive(heddle_update_shape shape, const float *grad, const float *hyper, float *parameter)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)shape.n)
        sgd_step(grad[i], hyper, decay_of(shape, hyper, i), &parameter[i]);
}

__global__ void momentum_update_naive(heddle_update_shape shape, const float *grad, const float *hyper,
                                      float *parameter, float *velocity)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)shape.n)
        momentum_step(grad[i], hyper, decay_of(shape, hyper, i), &parameter[i], &velocity[i]);
}

__global__ void adamw_update_naive(heddle_update_shape shape, const float *grad, const float *hyper, float *parameter,
                                   float *first_moment, float *second_moment)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)shape.n)
        adamw_step(grad[i], hyper, decay_of(shape, hyper, i), &parameter[i], &first_moment[i], &second_moment[i]);
}

static heddle_update_shape shape_of(const heddle_call *call)
{
    return *(const heddle_update_shape *)call->shape;
}

static heddle_status launch_sgd(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(shape_of(call).n);
    if (blocks > 0)
        sgd_update_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape_of(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_momentum(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(shape_of(call).n);
    if (blocks > 0)
        momentum_update_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape_of(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
            (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_adamw(const heddle_call *call)
{
    unsigned blocks = heddle_cuda_blocks(shape_of(call).n);
    if (blocks > 0)
        adamw_update_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape_of(call), (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
            (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("sgd_update", "01_naive", launch_sgd)
HEDDLE_CUDA_RUNG("momentum_update", "01_naive", launch_momentum)
HEDDLE_CUDA_RUNG("adamw_update", "01_naive", launch_adamw)
