// Sums in levels: a kernel makes one sum per tile of its input. These sums are the input of the next level, until one
// is left. The rungs of reduction share this; each brings its kernel.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Elements per block on every level; levels_workspace in reduction.c relies on it.
enum { HEDDLE_REDUCTION_TILE = 256 };

// Queues one level: sums (ceil(n / tile)) of input (n), each divided by `divisor`.
typedef void heddle_reduction_level(int n, float divisor, const float *input, float *sums, unsigned blocks,
                                    cudaStream_t stream);

static inline heddle_status heddle_reduction_levels(const heddle_call *call, float divisor,
                                                    heddle_reduction_level *level, const char *rung)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0];
    float *sums = (float *)call->workspace;
    for (;;) {
        unsigned blocks = n > 0 ? heddle_ceil_div(n, HEDDLE_REDUCTION_TILE) : 1; // an empty sum is 0
        bool last = blocks == 1;
        level(n, last ? divisor : 1.0f, input, last ? (float *)call->output[0] : sums, blocks,
              heddle_cuda_stream_of(call));
        if (last)
            return heddle_cuda_launched(rung);
        n = (int)blocks;
        input = sums;
        sums += blocks;
    }
}

// The four lines that put a rung on both operators' ladders.
#define HEDDLE_REDUCTION_RUNGS(rung, level)                                                                            \
    static heddle_status launch_sum(const heddle_call *call)                                                           \
    {                                                                                                                  \
        return heddle_reduction_levels(call, 1.0f, level, rung);                                                       \
    }                                                                                                                  \
    static heddle_status launch_mean(const heddle_call *call)                                                          \
    {                                                                                                                  \
        return heddle_reduction_levels(call, (float)((const heddle_elements_shape *)call->shape)->n, level, rung);     \
    }                                                                                                                  \
    HEDDLE_CUDA_RUNG("sum_forward", rung, launch_sum)                                                                  \
    HEDDLE_CUDA_RUNG("mean_forward", rung, launch_mean)
