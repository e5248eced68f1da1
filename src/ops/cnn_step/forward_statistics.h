// Statistics of batchnorm 2, out of the sums that forward.h's blocks have of their images.
//
// The blocks leave their sums, and the one that comes last adds them in a fixed order, at last in double. Sums and sums
// of squares are float, about zero: a thread adds the 28 values it has of an image, and a block some tens of images, so
// they are good to a few units of float's last place; and so is the variance, since the means of channels are of the
// size of their deviations (they are made of relu's output, with weights of both signs).
#ifndef HEDDLE_OPS_CNN_STEP_FORWARD_STATISTICS_H
#define HEDDLE_OPS_CNN_STEP_FORWARD_STATISTICS_H

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"

// One over the root, to double's precision: the float's, and a step of Newton's method, which squares its error.
CNN_DEVICE double cnn_inverse_root(double value)
{
    const double guess = rsqrtf((float)value);
    return guess * (1.5 - 0.5 * value * guess * guess);
}

// The block's first Threads threads.
template <int Threads> CNN_DEVICE void cnn_statistics_meet()
{
    enum { NAME = 5 };
    __barrier_sync_count(NAME, Threads);
}

// By the block's first Threads threads. `total` of thread c is the block's sum of channel c, of thread 64 + c its sum
// of squares. `scratch`, in shared memory, has 128 values for every 32 of the Threads; `last` is there too.
template <int Threads, typename Arguments>
CNN_DEVICE void cnn_statistics_reduce(const Arguments &arguments, float total, float4 *scratch, bool *last)
{
    enum { LAST_COUNTER = 1 };
    if (threadIdx.x < 2 * CNN_CHANNELS2)
        arguments.workspace.statistics2_partial[blockIdx.x * 2 * CNN_CHANNELS2 + threadIdx.x] = total;
    cnn_statistics_meet<Threads>();
    if (threadIdx.x == 0) {
        __threadfence(); // what the block wrote, before the count; and the count before what the others wrote
        *last = atomicAdd(arguments.workspace.counters + LAST_COUNTER, 1u) == gridDim.x - 1;
        __threadfence();
    }
    cnn_statistics_meet<Threads>();
    if (!*last)
        return;
    // Four sums to a thread, of some of the blocks: few enough to add in float.
    enum { QUADS = 2 * CNN_CHANNELS2 / 4, PARTS = Threads / QUADS };
    float4(*parts)[QUADS] = (float4(*)[QUADS])scratch;
    const int quad = threadIdx.x % QUADS, part = threadIdx.x / QUADS;
    const double inverse = 1 / ((double)arguments.n * CNN_PIXELS1);
    float4 sum = make_float4(0, 0, 0, 0);
    enum { AT_ONCE = 17 }; // on their way together: as many as 132 blocks need, by 256 threads
    const float4 *partial = (const float4 *)arguments.workspace.statistics2_partial + quad;
    for (int first = part; first < (int)gridDim.x; first += AT_ONCE * PARTS) {
        float4 four[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int block = first + i * PARTS;
            four[i] = block < (int)gridDim.x ? partial[block * QUADS] : make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            sum.x += four[i].x, sum.y += four[i].y, sum.z += four[i].z, sum.w += four[i].w;
    }
    parts[part][quad] = sum;
    cnn_statistics_meet<Threads>();
    if (threadIdx.x < CNN_CHANNELS2) {
        const int channel = threadIdx.x;
        const float(*values)[2 * CNN_CHANNELS2] = (const float(*)[2 * CNN_CHANNELS2]) scratch;
        double sum_all = 0, square_all = 0;
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            sum_all += values[i][channel], square_all += values[i][CNN_CHANNELS2 + channel];
        const double mean = sum_all * inverse, variance = fmax(square_all * inverse - mean * mean, 0.0);
        arguments.workspace.statistics2->mean[channel] = (float)mean;
        arguments.workspace.statistics2->inverse_std[channel] = (float)cnn_inverse_root(variance + arguments.epsilon);
        arguments.workspace.statistics2->variance[channel] = (float)variance;
    }
    if (threadIdx.x == 0)
        arguments.workspace.counters[LAST_COUNTER] = 0;
}

#endif
