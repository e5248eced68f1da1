// avgpool2d, rung 2: windows of 2 by 2, side by side, by vectors.
//
// Rung 1's loads lie a stride apart: every request takes twice the sectors it uses, and the other half again with the
// next. Here a thread loads the two rows above its windows with 16 bytes each, two windows at once (8 bytes and one
// window where rows are no multiple of 4), for four places, all loads before the first addition. As h is even, the rows
// of all planes are one long row of pairs. Backward every element lies in one window: no search, and a quarter of the
// gradient is a multiplication where there was a division.
//
// Limited by: bytes.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/pool2d.h"

enum { PLACES = 4 }; // of a thread, a block apart: loads in flight together

// 2 * windows floats of one row; by one access where they are aligned.
template <int windows, bool aligned> __device__ static void load_row(const float *from, float row[2 * windows])
{
    if (!aligned) {
#pragma unroll
        for (int i = 0; i < 2 * windows; i++)
            row[i] = from[i];
    } else if (windows == 2) {
        float4 value = *(const float4 *)from;
        row[0] = value.x, row[1] = value.y, row[2 * windows - 2] = value.z, row[2 * windows - 1] = value.w;
    } else {
        float2 value = *(const float2 *)from;
        row[0] = value.x, row[1] = value.y;
    }
}

template <int windows, bool aligned> __device__ static void store_row(float *to, const float row[2 * windows])
{
    if (!aligned) {
#pragma unroll
        for (int i = 0; i < 2 * windows; i++)
            to[i] = row[i];
    } else if (windows == 2) {
        *(float4 *)to = make_float4(row[0], row[1], row[2 * windows - 2], row[2 * windows - 1]);
    } else {
        *(float2 *)to = make_float2(row[0], row[1]);
    }
}

// input: (pairs of rows, 2, w), output: (pairs of rows, w / 2); `across` places to a row, `places` in all
template <int windows, bool aligned>
__global__ void avgpool2d_pairs_forward(int w, unsigned across, unsigned places, const float *__restrict__ input,
                                        float *__restrict__ output)
{
    unsigned first = blockIdx.x * PLACES * HEDDLE_CUDA_BLOCK + threadIdx.x;
    float top[PLACES][2 * windows], bottom[PLACES][2 * windows];
#pragma unroll
    for (int i = 0; i < PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at < places) {
            const float *from = input + (size_t)(at / across) * 2 * w + at % across * 2 * windows;
            load_row<windows, aligned>(from, top[i]);
            load_row<windows, aligned>(from + w, bottom[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < PLACES; i++) {
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
    unsigned first = blockIdx.x * PLACES * HEDDLE_CUDA_BLOCK + threadIdx.x;
    float share[PLACES][windows];
#pragma unroll
    for (int i = 0; i < PLACES; i++) {
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
    for (int i = 0; i < PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at >= places)
            return;
        float row[2 * windows];
#pragma unroll
        for (int j = 0; j < 2 * windows; j++)
            row[j] = share[i][j / 2];
        float *to = grad_input + (size_t)(at / across) * 2 * w + at % across * 2 * windows;
        store_row<windows, aligned>(to, row);
        store_row<windows, aligned>(to + w, row);
    }
}

template <int windows, bool aligned> static void launch_forward_by(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    unsigned across = shape->w / (2 * windows), places = across * (unsigned)(shape->n * shape->c * (shape->h / 2));
    unsigned blocks = heddle_ceil_div(places, PLACES * HEDDLE_CUDA_BLOCK);
    if (blocks > 0)
        avgpool2d_pairs_forward<windows, aligned><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->w, across, places, (const float *)call->input[0], (float *)call->output[0]);
}

template <int windows, bool aligned> static void launch_backward_by(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    unsigned across = shape->w / (2 * windows), places = across * (unsigned)(shape->n * shape->c * (shape->h / 2));
    unsigned blocks = heddle_ceil_div(places, PLACES * HEDDLE_CUDA_BLOCK);
    if (blocks > 0)
        avgpool2d_pairs_backward<windows, aligned><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->w, across, places, (const float *)call->input[0], (float *)call->output[0]);
}

static heddle_status launch_forward(const heddle_call *call)
{
    bool whole = ((const heddle_pool2d_shape *)call->shape)->w % 4 == 0,
         aligned = heddle_aligned16(call->input[0]) && heddle_aligned16(call->output[0]);
    if (whole && aligned)
        launch_forward_by<2, true>(call);
    else if (aligned)
        launch_forward_by<1, true>(call);
    else
        launch_forward_by<1, false>(call);
    return heddle_cuda_launched("02_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
    bool whole = ((const heddle_pool2d_shape *)call->shape)->w % 4 == 0,
         aligned = heddle_aligned16(call->input[0]) && heddle_aligned16(call->output[0]);
    if (whole && aligned)
        launch_backward_by<2, true>(call);
    else if (aligned)
        launch_backward_by<1, true>(call);
    else
        launch_backward_by<1, false>(call);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("avgpool2d_forward", "02_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("avgpool2d_backward", "02_vectorised", launch_backward)
