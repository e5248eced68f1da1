// avgpool2d, rung 2: adjacent windows of 2×2, by vectors.
//
// Rung 1's loads are a stride apart: every request touches twice the sectors it uses, and the other half again with the
// next. Here a thread loads the two rows of its windows with 16 bytes each, two windows at once (8 bytes and one window
// if the row length is not a multiple of 4), for four places, with all loads before the first addition. Backward every
// element lies in one window: no search, and multiplying by a quarter replaces the division.
//
// Limited by: memory bandwidth.

#include "ops/pool2d_pairs.h"

// input: (pairs of rows, 2, w), output: (pairs of rows, w / 2); `across` places per row, `places` in all
template <int windows, bool aligned>
__global__ void avgpool2d_pairs_forward(int w, unsigned across, unsigned places, const float *__restrict__ input,
                                        float *__restrict__ output)
{
    unsigned first = blockIdx.x * POOL_PLACES * HEDDLE_CUDA_BLOCK + threadIdx.x;
    float top[POOL_PLACES][2 * windows], bottom[POOL_PLACES][2 * windows];
    pool_load_places<windows, aligned>(top, bottom, input, w, first, across, places);
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            return;
        float mean[windows];
#pragma unroll
        for (int j = 0; j < windows; j++)
            mean[j] = 0.25f * (top[i][2 * j] + top[i][2 * j + 1] + bottom[i][2 * j] + bottom[i][2 * j + 1]);
        if (windows == 2)
            *(float2 *)&output[(size_t)at * 2] = make_float2(mean[0], mean[windows - 1]);
        else
            output[at] = mean[0];
    }
}

template <int windows, bool aligned>
__global__ void avgpool2d_pairs_backward(int w, unsigned across, unsigned places, const float *__restrict__ grad_output,
                                         float *__restrict__ grad_input)
{
    unsigned first = blockIdx.x * POOL_PLACES * HEDDLE_CUDA_BLOCK + threadIdx.x;
    float share[POOL_PLACES][windows];
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            break;
        if (windows == 2) {
            float2 both = *(const float2 *)&grad_output[(size_t)at * 2];
            share[i][0] = 0.25f * both.x, share[i][windows - 1] = 0.25f * both.y;
        } else {
            share[i][0] = 0.25f * grad_output[at];
        }
    }
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            return;
        float row[2 * windows];
#pragma unroll
        for (int j = 0; j < 2 * windows; j++)
            row[j] = share[i][j / 2];
        float *to = grad_input + (size_t)(at / across) * 2 * w + at % across * 2 * windows;
        pool_store_row<windows, aligned>(to, row);
        pool_store_row<windows, aligned>(to + w, row);
    }
}

struct avgpool2d_forward_pairs {
    template <int windows, bool aligned>
    static void launch(const heddle_call *call, const heddle_pool2d_shape *shape, pool_grid grid)
    {
        avgpool2d_pairs_forward<windows, aligned><<<grid.blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->w, grid.across, grid.places, (const float *)call->input[0], (float *)call->output[0]);
    }
};

struct avgpool2d_backward_pairs {
    template <int windows, bool aligned>
    static void launch(const heddle_call *call, const heddle_pool2d_shape *shape, pool_grid grid)
    {
        avgpool2d_pairs_backward<windows, aligned><<<grid.blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->w, grid.across, grid.places, (const float *)call->input[0], (float *)call->output[0]);
    }
};

HEDDLE_CUDA_RUNG("avgpool2d_forward", "02_vectorised", pool_launch<avgpool2d_forward_pairs>)
HEDDLE_CUDA_RUNG("avgpool2d_backward", "02_vectorised", pool_launch<avgpool2d_backward_pairs>)
