// What the CUDA rungs of conv_block and stem_block do once per channel: sums over a block in a fixed order, storing
// batchnorm's statistics; and pooling a window.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "ops/conv_block/conv_block.h"

enum { CONV_BLOCK_SUM_THREADS = 128 }; // per block that sums one channel

// The sum over all threads of the block, in a fixed order, returned to all of them.
__device__ static inline double conv_block_block_sum(double value, double shared[CONV_BLOCK_SUM_THREADS])
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = CONV_BLOCK_SUM_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    value = shared[0];
    __syncthreads(); // before the next sum writes there
    return value;
}

// Where forward stores a channel's statistics. bias, running_mean, running_var: NULL if absent
typedef struct conv_block_statistics_operands {
    const float *bias;
    float *mean, *inverse_std, *running_mean, *running_var;
} conv_block_statistics_operands;

// mean and variance: of the convolution without its bias, over all n * h * w pixels.
__device__ static inline void conv_block_save_statistics(const heddle_conv_block_shape &shape,
                                                         const conv_block_statistics_operands &operands, int k,
                                                         double mean, double variance)
{
    double pixels = (double)shape.n * shape.h * shape.w, momentum = (double)shape.momentum;
    operands.mean[k] = (float)mean;
    operands.inverse_std[k] = (float)(1 / sqrt(variance + (double)shape.epsilon));
    if (operands.running_mean) {
        double running = (double)operands.running_mean[k], bias = operands.bias ? (double)operands.bias[k] : 0;
        operands.running_mean[k] = (float)(running + momentum * (mean + bias - running));
    }
    if (operands.running_var) {
        double running = (double)operands.running_var[k], unbiased = variance * pixels / (pixels - 1);
        operands.running_var[k] = (float)(running + momentum * (unbiased - running));
    }
}

static inline conv_block_statistics_operands conv_block_statistics_of(const heddle_call *call)
{
    conv_block_statistics_operands operands;
    operands.bias = (const float *)call->input[2];
    operands.mean = (float *)call->output[2];
    operands.inverse_std = (float *)call->output[3];
    operands.running_mean = (float *)call->output[5];
    operands.running_var = (float *)call->output[6];
    return operands;
}

// The largest of a window 0 1 over 2 3, or 0. winner: its position, the first of equals, NaN before all;
// HEDDLE_CONV_BLOCK_NO_WINNER if relu blocks all of them. The comparisons preserve NaN.
__device__ static inline float conv_block_relu_pool(const float window[4], unsigned *winner)
{
    float best = window[0];
    unsigned at = 0;
#pragma unroll
    for (unsigned i = 1; i < 4; i++)
        if (window[i] > best || isnan(window[i])) {
            best = window[i];
            at = i;
        }
    bool passes = !(best <= 0.0f);
    *winner = passes ? at : (unsigned)HEDDLE_CONV_BLOCK_NO_WINNER;
    return passes ? best : 0.0f;
}
