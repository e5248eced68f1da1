// rows_trunk: what its rungs share. The operands of a call, the windows of pooling, and the sums of gradients that the
// blocks of a part leave and the last of them adds.
#pragma once

#include <math.h>

#include "ops/cuda/rung.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_trunk/layout.h"

typedef heddle_rows_trunk_shape trunk_shape;

struct trunk_operands {
    const uint8_t *dataset;
    const int32_t *dataset_labels, *order;
    const int64_t *cursor;
    const float *weight[HEDDLE_ROWS_TRUNK_STAGES], *bias[HEDDLE_ROWS_TRUNK_STAGES];
    float *activations;
    int32_t *labels;
    const void *grad_output;
    void *output;
    float *grad_weight[HEDDLE_ROWS_TRUNK_STAGES], *grad_bias[HEDDLE_ROWS_TRUNK_STAGES];
    float *left; // (blocks, trunk_left.floats): each block's sums
    int32_t *arrived;
};

static inline trunk_operands trunk_operands_of(const heddle_call *call, bool is_backward)
{
    trunk_operands on = {};
    on.dataset = (const uint8_t *)call->input[HEDDLE_TRUNK_DATASET];
    on.order = (const int32_t *)call->input[HEDDLE_TRUNK_ORDER];
    on.cursor = (const int64_t *)call->input[HEDDLE_TRUNK_CURSOR];
    if (is_backward) {
        on.grad_output = call->input[HEDDLE_TRUNK_GRAD_OUTPUT];
        on.activations = (float *)call->input[HEDDLE_TRUNK_ACTIVATIONS_OF];
        on.left = (float *)call->workspace;
        on.arrived = (int32_t *)call->output[HEDDLE_TRUNK_ARRIVED];
    } else {
        on.dataset_labels = (const int32_t *)call->input[HEDDLE_TRUNK_DATASET_LABELS];
        on.output = call->output[HEDDLE_TRUNK_OUTPUT];
        on.activations = (float *)call->output[HEDDLE_TRUNK_ACTIVATIONS];
        on.labels = (int32_t *)call->output[HEDDLE_TRUNK_LABELS];
    }
    for (int i = 0; i < heddle_trunk_stages((const trunk_shape *)call->shape); i++)
        if (is_backward) {
            on.weight[i] = i > 0 ? (const float *)call->input[HEDDLE_TRUNK_SECOND_WEIGHT + i - 1] : NULL;
            on.grad_weight[i] = (float *)call->output[HEDDLE_TRUNK_FIRST_GRADIENT + 2 * i];
            on.grad_bias[i] = (float *)call->output[HEDDLE_TRUNK_FIRST_GRADIENT + 2 * i + 1];
        } else {
            on.weight[i] = (const float *)call->input[HEDDLE_TRUNK_FIRST_WEIGHT + 2 * i];
            on.bias[i] = (const float *)call->input[HEDDLE_TRUNK_FIRST_WEIGHT + 2 * i + 1];
        }
    return on;
}

// Blocks that run at the same time, `most` per multiprocessor if their shared memory allows that many.
static inline int trunk_blocks_at_once(size_t bytes, int most)
{
    const size_t all = 228 * 1024, reserved = 1024; // of a multiprocessor, and of each block
    const int fit = (int)(all / (bytes + reserved));
    return heddle_cuda_multiprocessors() * (fit < 1 ? 1 : fit < most ? fit : most);
}

// Backward: blocks that share a part of the batch.
static inline int trunk_blocks_per_part(const trunk_shape *shape, size_t bytes, int most)
{
    const int part = heddle_trunk_part(shape), at_once = trunk_blocks_at_once(bytes, most);
    const int share = (at_once < HEDDLE_ROWS_TRUNK_BLOCKS ? at_once : HEDDLE_ROWS_TRUNK_BLOCKS) / shape->parts;
    return share < 1 ? 1 : share < part ? share : part;
}

__device__ static __forceinline__ void trunk_clear(void *from, int bytes)
{
    for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x)
        ((float4 *)from)[i] = make_float4(0, 0, 0, 0);
}

// --- windows --------------------------------------------------------------------------------------------------------

// The results of a window: two by two if that is its size, each line in one access if it is aligned to 8 bytes, as all
// of them are if the stage's first result is.
__device__ static __forceinline__ bool aligned8(const float *kept)
{
    return (uintptr_t)kept % sizeof(float2) == 0;
}

__device__ static __forceinline__ void load_window(const float *from, int pitch, bool aligned, float (&y)[4])
{
    float2 lines[2];
#pragma unroll
    for (int i = 0; i < 2; i++)
        lines[i] = aligned ? __ldg((const float2 *)(from + i * pitch))
                           : make_float2(__ldg(from + i * pitch), __ldg(from + i * pitch + 1));
    y[0] = lines[0].x, y[1] = lines[0].y, y[2] = lines[1].x, y[3] = lines[1].y;
}

__device__ static __forceinline__ void store_window(float *to, int pitch, bool aligned, const float (&y)[4])
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (aligned)
            *(float2 *)(to + i * pitch) = make_float2(y[2 * i], y[2 * i + 1]);
        else
            to[i * pitch] = y[2 * i], to[i * pitch + 1] = y[2 * i + 1];
}

// Pooling, one result after another. NaN is the largest.
struct trunk_pool {
    float sum, most;
    int winner;

    __device__ __forceinline__ trunk_pool() : sum(0.0f), most(-INFINITY), winner(0)
    {
    }
    __device__ __forceinline__ void add(float y, int place)
    {
        sum += y;
        if (!(y <= most) || place == 0)
            most = y, winner = place;
    }
    __device__ __forceinline__ float result(int average, int window) const
    {
        return average ? sum * (1.0f / (window * window)) : most;
    }
};

// --- sums of gradients ----------------------------------------------------------------------------------------------

// Number `at` of a stage's sums: of its weight, or of its bias.
__device__ static __forceinline__ void store_gradient(const trunk_left &left, const trunk_operands &on, int part,
                                                      int stage, int at, float sum)
{
    const int weights = left.stage[stage].weights, k = left.stage[stage].k;
    if (at < weights)
        on.grad_weight[stage][(size_t)part * weights + at] = sum;
    else if (at < weights + k && on.grad_bias[stage])
        on.grad_bias[stage][(size_t)part * k + at - weights] = sum;
}

// Adds what the blocks of a part have left. from: (blocks, left.floats)
__device__ static void add_blocks(const trunk_left &left, const trunk_operands &on, int part, int blocks,
                                  const float *from)
{
    for (int i = 4 * threadIdx.x; i < left.floats; i += 4 * blockDim.x) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
        for (int block = 0; block < blocks; block++) {
            const float4 one = __ldcg((const float4 *)(from + (size_t)block * left.floats + i));
            sum.x += one.x, sum.y += one.y, sum.z += one.z, sum.w += one.w;
        }
        int s = 0;
        while (s + 1 < left.stages && i >= left.stage[s + 1].begin)
            s++;
        const float four[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int j = 0; j < 4; j++)
            store_gradient(left, on, part, s, i + j - left.stage[s].begin, four[j]);
    }
}

// Called by all threads of a block once its sums are left: the last block of a part adds them all.
__device__ static void arrive_and_add(const trunk_left &left, const trunk_operands &on, int part, int blocks)
{
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence(); // what the barrier has shown to this thread, it shows to the other blocks
        is_last = atomicAdd(&on.arrived[part], 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last)
        return;
    add_blocks(left, on, part, blocks, on.left + (size_t)part * blocks * left.floats);
    if (threadIdx.x == 0)
        on.arrived[part] = 0;
}
