// What the vectorised CUDA rungs of max and average pooling share, for adjacent 2×2 windows (heddle_pool2d_is_pairs): a
// thread handles POOL_PLACES places, each one or two windows wide, and loads and stores the two rows of a place by one
// access each if they are aligned. As h is even, the rows of all planes are one long sequence of pairs.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/pool2d.h"

enum { POOL_PLACES = 4 }; // per thread, a block apart: loads in flight together

// 2 * windows floats of one row; by one access if they are aligned.
template <int windows, bool aligned> __device__ static void pool_load_row(const float *from, float row[2 * windows])
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

template <int windows, bool aligned> __device__ static void pool_store_row(float *to, const float row[2 * windows])
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

// Both rows of the thread's places of input (pairs of rows, 2, w); `across` places per row, `places` in all.
template <int windows, bool aligned>
__device__ static __forceinline__ void pool_load_places(float (&top)[POOL_PLACES][2 * windows],
                                                        float (&bottom)[POOL_PLACES][2 * windows], const float *input,
                                                        int w, unsigned first, unsigned across, unsigned places)
{
#pragma unroll
    for (int i = 0; i < POOL_PLACES; i++) {
        unsigned at = first + i * HEDDLE_CUDA_BLOCK;
        if (at < places) {
            const float *from = input + (size_t)(at / across) * 2 * w + at % across * 2 * windows;
            pool_load_row<windows, aligned>(from, top[i]);
            pool_load_row<windows, aligned>(from + w, bottom[i]);
        }
    }
}

struct pool_grid {
    unsigned across, places, blocks;
};

static inline pool_grid pool_grid_of(const heddle_pool2d_shape *shape, int windows)
{
    pool_grid grid;
    grid.across = shape->w / (2 * windows);
    grid.places = grid.across * (unsigned)(shape->n * shape->c * (shape->h / 2));
    grid.blocks = heddle_ceil_div(grid.places, POOL_PLACES * HEDDLE_CUDA_BLOCK);
    return grid;
}

// Calls Kernel::launch<windows, aligned>(call, shape, grid) for the widest access that rows and operands allow.
template <typename Kernel> static heddle_status pool_launch(const heddle_call *call)
{
    const heddle_pool2d_shape *shape = (const heddle_pool2d_shape *)call->shape;
    const pool_grid wide = pool_grid_of(shape, 2), narrow = pool_grid_of(shape, 1);
    const bool aligned = heddle_aligned16(call->input[0]) && heddle_aligned16(call->input[1]) &&
                         heddle_aligned16(call->output[0]) && heddle_aligned16(call->output[1]);
    if (narrow.blocks == 0)
        return HEDDLE_OK;
    if (shape->w % 4 == 0 && aligned)
        Kernel::template launch<2, true>(call, shape, wide);
    else if (aligned)
        Kernel::template launch<1, true>(call, shape, narrow);
    else
        Kernel::template launch<1, false>(call, shape, narrow);
    return heddle_cuda_launched("02_vectorised");
}
