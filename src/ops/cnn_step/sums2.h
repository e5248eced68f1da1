// Batchnorm 2's two sums over the batch, from the sums of hidden_backward.h's blocks.
//
// Every block of backward.h adds them all for itself, in a fixed order, while the first image is in flight: no slower
// than one that waits for the last of hidden_backward.h's blocks to do it. The first stores them for finish.h.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"

enum {
    CNN_SUMS2 = 2 * CNN_CHANNELS2,
    CNN_SUMS2_WARPS = 8, // that add rows, the block's first; a row is four sums per lane
    CNN_SUMS2_BYTES = CNN_SUMS2_WARPS * CNN_SUMS2 * sizeof(float),
};

// By all threads of a block, into `scratch`, CNN_SUMS2_BYTES of shared memory: sums of every CNN_SUMS2_WARPS-th row.
template <typename Arguments> CNN_DEVICE void cnn_sums2_rows(const Arguments &arguments, float *scratch)
{
    enum { AHEAD = 25 }; // loads in flight per lane: all of 196 rows
    const int warp = threadIdx.x / 32, column = threadIdx.x % 32 * 4, rows = arguments.sums2_rows;
    if (warp >= CNN_SUMS2_WARPS)
        return;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int first = warp; first < rows; first += AHEAD * CNN_SUMS2_WARPS) {
        float4 four[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int row = first + i * CNN_SUMS2_WARPS;
            four[i] =
                row < rows
                    ? __ldcg((const float4 *)(arguments.workspace.sums2_partial + (size_t)row * CNN_SUMS2 + column))
                    : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            sum.x += four[i].x, sum.y += four[i].y, sum.z += four[i].z, sum.w += four[i].w;
    }
    *(float4 *)(scratch + warp * CNN_SUMS2 + column) = sum;
}

// After a barrier: sum number `which`, for one thread.
template <typename Arguments>
CNN_DEVICE float cnn_sums2_total(const Arguments &arguments, const float *scratch, int which)
{
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < CNN_SUMS2_WARPS; i++)
        total += scratch[i * CNN_SUMS2 + which];
    if (blockIdx.x == 0 && blockIdx.y == 0)
        arguments.workspace.sums2[which] = total;
    return total;
}

// Both, into the first CNN_SUMS2 numbers of `scratch`. Ends with a barrier.
template <typename Arguments> CNN_DEVICE void cnn_sums2_add(const Arguments &arguments, float *scratch)
{
    cnn_sums2_rows(arguments, scratch);
    __syncthreads();
    if (threadIdx.x < CNN_SUMS2) // of its column none but this thread reads
        scratch[threadIdx.x] = cnn_sums2_total(arguments, scratch, threadIdx.x);
    __syncthreads();
}
