// Statistics of batchnorm 2, from the sums of forward.h's blocks over their images.
//
// The blocks store their sums, and every block of hidden.h adds them all for itself, in a fixed order, finally in
// double: no slower than one that waits for the last of forward.h's blocks to do it. Sums and sums of squares are
// float, about zero. A thread adds the 28 values it has of an image, and a block some tens of images, so they are
// accurate to a few units in the last place; and so is the variance, since the means of channels have the magnitude of
// their deviations (they are computed from relu's output, with weights of both signs).
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"

// The inverse square root in double precision: the float's, and one step of Newton's method, which squares its error.
CNN_DEVICE double cnn_inverse_root(double value)
{
    const double guess = rsqrtf((float)value);
    return guess * (1.5 - 0.5 * value * guess * guess);
}

// The inverse of an integer, likewise.
CNN_DEVICE double cnn_inverse(float value)
{
    const double guess = 1.0f / value;
    return guess * (2.0 - value * guess);
}

// By forward.h's first 128 threads. `total` of thread c is the block's sum of channel c, of thread 64 + c its sum of
// squares.
template <typename Arguments> CNN_DEVICE void cnn_statistics_leave(const Arguments &arguments, float total)
{
    arguments.workspace.statistics2_partial[blockIdx.x * 2 * CNN_CHANNELS2 + threadIdx.x] = total;
}

// By all threads of a block, into `statistics`, in shared memory like `scratch`, which has a place for each of them.
// Ends with a barrier. The first block stores the result for the kernels after it.
template <int Threads, typename Arguments>
CNN_DEVICE void cnn_statistics_add(const Arguments &arguments, float4 *scratch, cnn_statistics *statistics)
{
    // Four sums per thread, over some of the blocks: few enough to add in float.
    enum { QUADS = 2 * CNN_CHANNELS2 / 4, PARTS = Threads / QUADS };
    const int quad = threadIdx.x % QUADS, part = threadIdx.x / QUADS, blocks = arguments.forward_blocks;
    const double inverse = cnn_inverse((float)(arguments.n * CNN_PIXELS1)); // exact up to 85,000 images
    float4 sum = make_float4(0, 0, 0, 0);
    enum { AT_ONCE = (132 + PARTS - 1) / PARTS }; // in flight together: as many as 132 blocks need
    const float4 *partial = (const float4 *)arguments.workspace.statistics2_partial + quad;
#pragma unroll 1
    for (int first = part; first < blocks; first += AT_ONCE * PARTS) {
        float4 four[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int block = first + i * PARTS;
            four[i] = block < blocks ? partial[block * QUADS] : make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            sum.x += four[i].x, sum.y += four[i].y, sum.z += four[i].z, sum.w += four[i].w;
    }
    scratch[threadIdx.x] = sum;
    __syncthreads();
    static_assert(PARTS % 4 == 0 && Threads >= 2 * CNN_CHANNELS2, "as it is added up below");
    if (threadIdx.x < 2 * CNN_CHANNELS2) { // a warp has 16 channels, their sums in its first half, then their squares
        const int lane = threadIdx.x % 32, channel = threadIdx.x / 32 * 16 + lane % 16;
        const float *values = (const float *)scratch + lane / 16 * CNN_CHANNELS2 + channel;
        double totals[PARTS / 2];
#pragma unroll
        for (int i = 0; i < PARTS / 2; i++)
            totals[i] = values[2 * i * 2 * CNN_CHANNELS2] + values[(2 * i + 1) * 2 * CNN_CHANNELS2];
#pragma unroll
        for (int i = 2; i < PARTS / 2; i++) // two chains, so that neither waits long for itself
            totals[i % 2] += totals[i];
        const double own = (totals[0] + totals[1]) * inverse, other = __shfl_xor_sync(0xffffffffu, own, 16);
        const double mean = own, variance = fmax(other - mean * mean, 0.0);
        const float inverse_std = (float)cnn_inverse_root(variance + arguments.epsilon);
        if (lane < 16) {
            statistics->mean[channel] = (float)mean;
            statistics->inverse_std[channel] = inverse_std;
            if (blockIdx.x == 0) {
                arguments.workspace.statistics2->mean[channel] = (float)mean;
                arguments.workspace.statistics2->inverse_std[channel] = inverse_std;
                arguments.workspace.statistics2->variance[channel] = (float)variance;
            }
        }
    }
    __syncthreads();
}
