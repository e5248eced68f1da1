// sort by CUB: cub::DeviceRadixSort::SortPairs, a radix sort that reads keys once per digit, like rung 4, with digits
// and tile sizes tuned for each GPU.
//
// Limited by: memory bandwidth.

#include <cub/device/device_radix_sort.cuh>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *keys = (const float *)call->input[0];
    const int *values = (const int *)call->input[1];
    float *sorted_keys = (float *)call->output[0];
    int *sorted_values = (int *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const int bits = 8 * sizeof *keys;
    void *memory = NULL;
    size_t bytes = 0; // the first call only says how many it needs
    if (n == 0)
        return HEDDLE_OK;
    HEDDLE_CUDA_TRY(
        cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, sorted_keys, values, sorted_values, n, 0, bits, stream));
    HEDDLE_TRY(heddle_cuda_scratch(call, bytes, &memory));
    return HEDDLE_CUDA_CHECK(
        cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, values, sorted_values, n, 0, bits, stream));
}

HEDDLE_CUDA_RUNG("sort", "cub", launch)
