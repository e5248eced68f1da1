// scan by CUB: cub::DeviceScan::InclusiveSum, one pass with decoupled look-back like rung 3, with tile sizes and delays
// tuned for each GPU.
//
// Limited by: memory bandwidth.

#include <cub/device/device_scan.cuh>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    void *memory = NULL;
    size_t bytes = 0; // the first call only says how many it needs
    if (n == 0)
        return HEDDLE_OK;
    HEDDLE_CUDA_TRY(cub::DeviceScan::InclusiveSum(NULL, bytes, input, output, n, stream));
    HEDDLE_TRY(heddle_cuda_scratch(call, bytes, &memory));
    return HEDDLE_CUDA_CHECK(cub::DeviceScan::InclusiveSum(memory, bytes, input, output, n, stream));
}

HEDDLE_CUDA_RUNG("scan", "cub", launch)
