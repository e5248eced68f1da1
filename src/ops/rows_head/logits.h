// The logits of a network of few classes and their softmax, in registers: shared by rows_head and rows_classify.
//
// A lane has every 32nd group of eight features. It computes its part of each logit, and the warp adds the parts. If
// there are few samples, all warps of a block share one; else the block keeps the weight in shared memory, for every
// warp reads it.
#pragma once

#include "ops/cuda/rows8.h"

enum { LOGITS_WARPS = 4, LOGITS_MOST_STAGED = 64 << 10 };

// The logits of a sample, in all lanes. Features from `first` on, every `step`-th group; weight: (k, c)
template <bool Aligned, typename Element, int Columns>
__device__ static void logits_add_features(const Element *input, const Element *weight, int c, int k, int row,
                                           int first, int step, float (&logits)[Columns])
{
#pragma unroll
    for (int j = 0; j < Columns; j++)
        logits[j] = 0;
    for (int feature = first; feature < c; feature += step) {
        const rows8 x = rows8_load<Aligned>(rows_at(input, (size_t)row * c + feature, feature), c);
#pragma unroll
        for (int first_row = 0; first_row < Columns; first_row += ROWS8) {
            if (first_row >= k)
                break;
            rows8 w[ROWS8];
            rows8_load_eight<Aligned>(weight, first_row, c, feature, w);
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
#pragma unroll
                for (int i = 0; i < ROWS8; i++)
                    logits[first_row + j] += x.v[i] * w[j].v[i];
        }
    }
#pragma unroll
    for (int j = 0; j < Columns; j++) {
        for (int distance = 16; distance > 0; distance /= 2)
            logits[j] += __shfl_xor_sync(~0u, logits[j], distance);
    }
}

// Adds the parts of the warps of a block, if they share a sample, and the bias.
template <bool Shared, int Columns>
__device__ static void logits_join(const float *bias, int k, float (*kept)[Columns], float (&logits)[Columns])
{
    if (Shared) {
        __syncthreads(); // the sample before has been read
        if (threadIdx.x % 32 == 0)
#pragma unroll
            for (int j = 0; j < Columns; j++)
                kept[threadIdx.x / 32][j] = logits[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < Columns; j++) {
            logits[j] = 0;
            for (int warp = 0; warp < LOGITS_WARPS; warp++)
                logits[j] += kept[warp][j];
        }
    }
#pragma unroll
    for (int j = 0; j < Columns; j++)
        logits[j] += bias && j < k ? bias[j] : 0.0f;
}

// Turns logits into probabilities; returns the loss.
template <int Columns>
__device__ static double logits_softmax(int classes, int label, float (&logits)[Columns], bool *right)
{
    float most = logits[0], sum = 0, own = 0;
    int best = 0;
#pragma unroll
    for (int j = 1; j < Columns; j++)
        if (j < classes && logits[j] > most) {
            most = logits[j];
            best = j;
        }
#pragma unroll
    for (int j = 0; j < Columns; j++) {
        own = j == label ? logits[j] : own;
        logits[j] = j < classes ? expf(logits[j] - most) : 0.0f;
        sum += logits[j];
    }
#pragma unroll
    for (int j = 0; j < Columns; j++)
        logits[j] /= sum;
    *right = best == label;
    // A kernel cannot report a label that is not a class: the loss becomes NaN.
    return label >= 0 && label < classes ? logf(sum) + most - own : NAN;
}

// The shared memory of a launch that keeps the weight there; 0: it does not.
template <typename Element, typename Kernel> static size_t logits_stage(Kernel kernel, int k, int c, bool possible)
{
    const size_t bytes = (size_t)k * c * sizeof(Element);
    if (!possible || bytes > LOGITS_MOST_STAGED)
        return 0;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, LOGITS_MOST_STAGED);
    return bytes;
}
