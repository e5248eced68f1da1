// maxpool2d, rung 2: adjacent windows of 2×2, by vectors.
//
// Rung 1's loads are a stride apart: every request touches twice the sectors it uses, and the other half again with the
// next. Here a thread loads the two rows of its windows with 16 bytes each, two windows at once (8 bytes and one window
// if the row length is not a multiple of 4), for four places, with all loads before the first comparison. Backward a
// thread writes all elements of its windows, zeros included: no clearing, no scattering, and one thread per window
// instead of one per plane.
//
// Limited by: memory bandwidth; the index, as large as the output, is a fifth of the traffic.

#include "ops/pool2d_pairs.h"

// Replaces the largest value so far: the first of the largest wins, and NaN wins over everything.
__device__ static void compare(float value, int place, float &most, int &won)
{
    if (value > most || isnan(value)) {
        most = value;
        won = place;
    }
}

// input: (pairs of rows, 2, w), output and index: (pairs of rows, w / 2); `across` places per row, `places` in all
template <int windows, bool aligned>
__global__ void maxpool2d_pairs_forward(int out_h, int w, unsigned across, unsigned places,
                                        const float *__restrict__ input, float *__restrict__ output,
                                        int32_t *__restrict__ index)
{
    unsigned first = blockIdx.x * POOL_PLACES * HEDDLE_CUDA_BLOCK + threadIdx.x;
    float top[POOL_PLACES][2 * windows], bottom[POOL_PLACES][2 * windows];
    pool_load_places<windows, aligned>(top, bottom, input, w, first, across, places);
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            return;
        int place = (int)(at / across % out_h) * 2 * w + (int)(at % across) * 2 * windows;
        float most[windows];
        int won[windows];
#pragma unroll
        for (int j = 0; j < windows; j++, place += 2) {
            most[j] = top[i][2 * j];
            won[j] = place;
            compare(top[i][2 * j + 1], place + 1, most[j], won[j]);
            compare(bottom[i][2 * j], place + w, most[j], won[j]);
            compare(bottom[i][2 * j + 1], place + w + 1, most[j], won[j]);
        }
        if (windows == 2) {
            *(float2 *)&output[(size_t)at * 2] = make_float2(most[0], most[windows - 1]);
            *(int2 *)&index[(size_t)at * 2] = make_int2(won[0], won[windows - 1]);
        } else {
            output[at] = most[0];
            index[at] = won[0];
        }
    }
}

template <int windows, bool aligned>
__global__ void maxpool2d_pairs_backward(int out_h, int w, unsigned across, unsigned places,
                                         const int32_t *__restrict__ index, const float *__restrict__ grad_output,
                                         float *__restrict__ grad_input)
{
    unsigned first = blockIdx.x * POOL_PLACES * HEDDLE_CUDA_BLOCK + threadIdx.x;
    float gradient[POOL_PLACES][windows];
    int won[POOL_PLACES][windows];
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            break;
        if (windows == 2) {
            float2 both = *(const float2 *)&grad_output[(size_t)at * 2];
            int2 places_won = *(const int2 *)&index[(size_t)at * 2];
            gradient[i][0] = both.x, gradient[i][windows - 1] = both.y;
            won[i][0] = places_won.x, won[i][windows - 1] = places_won.y;
        } else {
            gradient[i][0] = grad_output[at];
            won[i][0] = index[at];
        }
    }
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            return;
        int place = (int)(at / across % out_h) * 2 * w + (int)(at % across) * 2 * windows;
        float top[2 * windows], bottom[2 * windows];
#pragma unroll
        for (int j = 0; j < 2 * windows; j++) {
            top[j] = won[i][j / 2] == place + j ? gradient[i][j / 2] : 0.0f;
            bottom[j] = won[i][j / 2] == place + w + j ? gradient[i][j / 2] : 0.0f;
        }
        float *to = grad_input + (size_t)(at / across) * 2 * w + at % across * 2 * windows;
        pool_store_row<windows, aligned>(to, top);
        pool_store_row<windows, aligned>(to + w, bottom);
    }
}

struct maxpool2d_forward_pairs {
    template <int windows, bool aligned>
    static void launch(const heddle_call *call, const heddle_pool2d_shape *shape, pool_grid grid)
    {
        maxpool2d_pairs_forward<windows, aligned><<<grid.blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->h / 2, shape->w, grid.across, grid.places, (const float *)call->input[0], (float *)call->output[0],
            (int32_t *)call->output[1]);
    }
};

struct maxpool2d_backward_pairs {
    template <int windows, bool aligned>
    static void launch(const heddle_call *call, const heddle_pool2d_shape *shape, pool_grid grid)
    {
        maxpool2d_pairs_backward<windows, aligned><<<grid.blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->h / 2, shape->w, grid.across, grid.places, (const int32_t *)call->input[0],
            (const float *)call->input[1], (float *)call->output[0]);
    }
};

HEDDLE_CUDA_RUNG("maxpool2d_forward", "02_vectorised", pool_launch<maxpool2d_forward_pairs>)
HEDDLE_CUDA_RUNG("maxpool2d_backward", "02_vectorised", pool_launch<maxpool2d_backward_pairs>)
