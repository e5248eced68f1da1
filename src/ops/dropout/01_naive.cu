// dropout, rung 1: one thread per element, with its own random word.
//
// Limited by: Philox: a whole block, ten rounds, is computed for each of its four words.

#include "heddle/ops.h"
#include "ops/cuda/philox.h"
#include "ops/cuda/rung.h"
#include "ops/dropout/dropout.h"

// random: {seed, sequence, position}; element i uses word position + i
__global__ void dropout_forward(heddle_dropout_shape shape, float scale, const float *input, const int64_t *random,
                                float *output, uint8_t *mask)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)shape.n)
        return;
    uint32_t word =
        heddle_cuda_random_word((uint64_t)random[0], (uint64_t)random[1], (uint64_t)random[2] + (uint64_t)i);
    bool stays = heddle_cuda_uniform(word) >= shape.probability;
    mask[i] = stays;
    output[i] = stays ? input[i] * scale : 0.0f;
}

__global__ void dropout_backward(heddle_dropout_shape shape, float scale, const uint8_t *mask, const float *grad_output,
                                 float *grad_input)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)shape.n)
        grad_input[i] = mask[i] ? grad_output[i] * scale : 0.0f;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_dropout_shape *shape = (const heddle_dropout_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        dropout_forward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, heddle_dropout_scale(shape), (const float *)call->input[0], (const int64_t *)call->input[1],
            (float *)call->output[0], (uint8_t *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_dropout_shape *shape = (const heddle_dropout_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        dropout_backward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, heddle_dropout_scale(shape), (const uint8_t *)call->input[0], (const float *)call->input[1],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("dropout_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("dropout_backward", "01_naive", launch_backward)
