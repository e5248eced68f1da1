// histogram by CUB: cub::DeviceHistogram::HistogramEven, which divides the values into bins of equal width: here of 1.
// With limits in float it multiplies each value by the number of bins per unit, which is exactly 1; with limits in int
// it would divide 64-bit numbers. A float holds no more whole numbers than 2^24.

#include <cub/device/device_histogram.cuh>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

enum { MOST_FLOAT_BINS = 1 << 24 };

template <typename Limit> static heddle_status launch_with(const heddle_call *call)
{
    const heddle_histogram_shape *shape = (const heddle_histogram_shape *)call->shape;
    const int *values = (const int *)call->input[0];
    int *counts = (int *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    void *memory = NULL;
    size_t bytes = 0; // the first call only says how many it needs
    const Limit end = (Limit)shape->bins;
    HEDDLE_CUDA_TRY(cub::DeviceHistogram::HistogramEven(NULL, bytes, values, counts, shape->bins + 1, (Limit)0, end,
                                                        shape->n, stream));
    HEDDLE_TRY(heddle_cuda_scratch(call, bytes, &memory));
    return HEDDLE_CUDA_CHECK(cub::DeviceHistogram::HistogramEven(memory, bytes, values, counts, shape->bins + 1,
                                                                 (Limit)0, end, shape->n, stream));
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_histogram_shape *shape = (const heddle_histogram_shape *)call->shape;
    return shape->bins <= MOST_FLOAT_BINS ? launch_with<float>(call) : launch_with<int>(call);
}

HEDDLE_CUDA_RUNG("histogram", "cub", launch)
