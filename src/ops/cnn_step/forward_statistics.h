// Statistics of batchnorm 2, out of the sums that forward.h's blocks have of their images.
//
// The blocks leave their sums, and the one that comes last adds them in their order, in double. Sums and sums of
// squares are float, about zero: a thread adds the 28 values it has of an image, and a block some tens of images, so
// they are good to a few units of float's last place; and so is the variance, since the means of channels are of the
// size of their deviations (they are made of relu's output, with weights of both signs).
#ifndef HEDDLE_OPS_CNN_STEP_FORWARD_STATISTICS_H
#define HEDDLE_OPS_CNN_STEP_FORWARD_STATISTICS_H

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"

// The block's first Threads threads.
template <int Threads> CNN_DEVICE void cnn_statistics_meet()
{
    enum { NAME = 5 };
    __barrier_sync_count(NAME, Threads);
}

// By the block's first Threads threads. `total` of thread c is the block's sum of channel c, of thread 64 + c its sum
// of squares. `scratch`, in shared memory, has 128 values for every 32 of the Threads; `last` is there too.
template <int Threads, typename Arguments>
CNN_DEVICE void cnn_statistics_reduce(const Arguments &arguments, float total, double *scratch, bool *last)
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
    // Four sums to a thread, of some of the blocks.
    enum { QUADS = 2 * CNN_CHANNELS2 / 4, PARTS = Threads / QUADS };
    double(*parts)[2 * CNN_CHANNELS2] = (double(*)[2 * CNN_CHANNELS2]) scratch;
    const int quad = threadIdx.x % QUADS, part = threadIdx.x / QUADS;
    double sum[4] = {0, 0, 0, 0};
#pragma unroll 14 // as many as 168 blocks need, with 384 threads: all on their way at once
    for (int block = part; block < (int)gridDim.x; block += PARTS) {
        const float4 four = ((const float4 *)arguments.workspace.statistics2_partial)[block * QUADS + quad];
        sum[0] += four.x, sum[1] += four.y, sum[2] += four.z, sum[3] += four.w;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        parts[part][quad * 4 + i] = sum[i];
    cnn_statistics_meet<Threads>();
    if (threadIdx.x < CNN_CHANNELS2) {
        const int channel = threadIdx.x;
        double sum_all = 0, square_all = 0;
        for (int i = 0; i < PARTS; i++)
            sum_all += parts[i][channel], square_all += parts[i][CNN_CHANNELS2 + channel];
        const double count = (double)arguments.n * CNN_PIXELS1, mean = sum_all / count;
        const double variance = fmax(square_all / count - mean * mean, 0.0);
        arguments.workspace.statistics2->mean[channel] = (float)mean;
        arguments.workspace.statistics2->inverse_std[channel] = (float)rsqrt(variance + arguments.epsilon);
        arguments.workspace.statistics2->variance[channel] = (float)variance;
    }
    if (threadIdx.x == 0)
        arguments.workspace.counters[LAST_COUNTER] = 0;
}

#endif
