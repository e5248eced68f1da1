// histogram by CUB: cub::DeviceHistogram::HistogramEven, which divides the values into bins of equal width: here of 1.
//
// Limited by: atomics in shared memory, and for many bins in global memory.

#include <cub/device/device_histogram.cuh>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_histogram_shape *shape = (const heddle_histogram_shape *)call->shape;
    const int *values = (const int *)call->input[0];
    int *counts = (int *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    void *memory = NULL;
    size_t bytes = 0; // the first call only says how many it needs
    HEDDLE_CUDA_TRY(cub::DeviceHistogram::HistogramEven(NULL, bytes, values, counts, shape->bins + 1, 0, shape->bins,
                                                        shape->n, stream));
    HEDDLE_TRY(heddle_cuda_scratch(call, bytes, &memory));
    return HEDDLE_CUDA_CHECK(cub::DeviceHistogram::HistogramEven(memory, bytes, values, counts, shape->bins + 1, 0,
                                                                 shape->bins, shape->n, stream));
}

HEDDLE_CUDA_RUNG("histogram", "cub", launch)
