// dropout, rung 2: sixteen elements per thread, whose random words come from whole Philox blocks.
//
// Rung 1 computes a block of four words for every element and throws three away. Sixteen elements take four blocks, or
// five where the stream of words does not begin at a block. A thread moves 16 bytes at a time, and writes its part of
// the mask by one store.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/cuda/philox.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/dropout/dropout.h"

enum { ITEMS = 16, VECTORS = ITEMS / HEDDLE_VECTOR, BLOCKS = ITEMS / HEDDLE_PHILOX_WORDS + 1 };

typedef union mask_bytes {
    uint4 all;
    uint8_t one[ITEMS];
} mask_bytes;

// Sixteen elements whose first word is word Skip of block `block`. Skip is a constant, so that the words stay in
// registers.
template <bool aligned, int Skip>
__device__ static void drop(const heddle_dropout_shape &shape, float scale, uint64_t seed, uint64_t sequence,
                            uint64_t block, const float *input, float *output, uint8_t *mask)
{
    union {
        uint4 block[BLOCKS];
        uint32_t word[BLOCKS * HEDDLE_PHILOX_WORDS];
    } drawn;
    float4 value[VECTORS];
    mask_bytes stays;
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        value[v] = heddle_load4<aligned>(input + v * HEDDLE_VECTOR);
#pragma unroll
    for (int b = 0; b < (Skip ? BLOCKS : BLOCKS - 1); b++)
        drawn.block[b] = heddle_cuda_philox(seed, sequence, block + b);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        float *one = &((float *)value)[i];
        stays.one[i] = heddle_cuda_uniform(drawn.word[Skip + i]) >= shape.probability;
        *one = stays.one[i] ? *one * scale : 0.0f;
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        heddle_store4<aligned>(output + v * HEDDLE_VECTOR, value[v]);
    if (aligned)
        *(uint4 *)mask = stays.all;
    else
        for (int i = 0; i < ITEMS; i++)
            mask[i] = stays.one[i];
}

// random: {seed, sequence, position}; element i uses word position + i
template <bool aligned>
__global__ void dropout_forward_vectorised(heddle_dropout_shape shape, float scale, const float *input,
                                           const int64_t *random, float *output, uint8_t *mask)
{
    size_t first = ITEMS * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    uint64_t seed = (uint64_t)random[0], sequence = (uint64_t)random[1];
    uint64_t word = (uint64_t)random[2] + first, block = word / HEDDLE_PHILOX_WORDS;
    if (first + ITEMS > (size_t)shape.n) {
        for (size_t i = first; i < (size_t)shape.n; i++, word++) {
            bool stays = heddle_cuda_uniform(heddle_cuda_random_word(seed, sequence, word)) >= shape.probability;
            mask[i] = stays;
            output[i] = stays ? input[i] * scale : 0.0f;
        }
        return;
    }
    input += first, output += first, mask += first;
    switch (word % HEDDLE_PHILOX_WORDS) { // the same in all threads
    case 0: drop<aligned, 0>(shape, scale, seed, sequence, block, input, output, mask); break;
    case 1: drop<aligned, 1>(shape, scale, seed, sequence, block, input, output, mask); break;
    case 2: drop<aligned, 2>(shape, scale, seed, sequence, block, input, output, mask); break;
    default: drop<aligned, 3>(shape, scale, seed, sequence, block, input, output, mask);
    }
}

template <bool aligned>
__global__ void dropout_backward_vectorised(heddle_dropout_shape shape, float scale, const uint8_t *mask,
                                            const float *grad_output, float *grad_input)
{
    size_t first = ITEMS * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (!aligned || first + ITEMS > (size_t)shape.n) {
        for (size_t i = first; i < first + ITEMS && i < (size_t)shape.n; i++)
            grad_input[i] = mask[i] ? grad_output[i] * scale : 0.0f;
        return;
    }
    mask_bytes stayed;
    stayed.all = *(const uint4 *)(mask + first);
    float4 value[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        value[v] = heddle_load4<aligned>(grad_output + first + v * HEDDLE_VECTOR);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        float *one = &((float *)value)[i];
        *one = stayed.one[i] ? *one * scale : 0.0f;
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        heddle_store4<aligned>(grad_input + first + v * HEDDLE_VECTOR, value[v]);
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_dropout_shape *shape = (const heddle_dropout_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    const int64_t *random = (const int64_t *)call->input[1];
    float *output = (float *)call->output[0];
    uint8_t *mask = (uint8_t *)call->output[1];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape->n, ITEMS));
    bool aligned = heddle_aligned16(input) && heddle_aligned16(output) && heddle_aligned16(mask);
    if (blocks > 0)
        (aligned ? dropout_forward_vectorised<true>
                 : dropout_forward_vectorised<false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, heddle_dropout_scale(shape), input, random, output, mask);
    return heddle_cuda_launched("02_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_dropout_shape *shape = (const heddle_dropout_shape *)call->shape;
    const uint8_t *mask = (const uint8_t *)call->input[0];
    const float *grad_output = (const float *)call->input[1];
    float *grad_input = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape->n, ITEMS));
    bool aligned = heddle_aligned16(mask) && heddle_aligned16(grad_output) && heddle_aligned16(grad_input);
    if (blocks > 0)
        (aligned ? dropout_backward_vectorised<true>
                 : dropout_backward_vectorised<false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, heddle_dropout_scale(shape), mask, grad_output, grad_input);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("dropout_forward", "02_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("dropout_backward", "02_vectorised", launch_backward)
