// select by CUB: cub::DeviceSelect::If, one pass with decoupled look-back. What lies behind the selected elements it
// leaves as it was, so a second kernel writes the zeros.
//
// Limited by: memory bandwidth.

#include <cub/device/device_select.cuh>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

enum { BLOCKS_AN_SM = 8 }; // 2048 threads: the most an SM holds

struct is_above {
    float threshold;
    __host__ __device__ bool operator()(float value) const
    {
        return value > threshold;
    }
};

// output: (n)
__global__ void select_zeros(int n, const int *count, float *output)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = *count + (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (size_t)n; i += stride)
        output[i] = 0;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_select_shape *shape = (const heddle_select_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    int *count = (int *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const is_above selects = {shape->threshold};
    void *memory = NULL;
    size_t bytes = 0; // the first call only says how many it needs
    if (shape->n == 0) {
        cudaMemsetAsync(count, 0, sizeof *count, stream);
        return heddle_cuda_launched("cub");
    }
    HEDDLE_CUDA_TRY(cub::DeviceSelect::If(NULL, bytes, input, output, count, shape->n, selects, stream));
    HEDDLE_TRY(heddle_cuda_scratch(call, bytes, &memory));
    HEDDLE_CUDA_TRY(cub::DeviceSelect::If(memory, bytes, input, output, count, shape->n, selects, stream));
    const unsigned needed = heddle_cuda_blocks(shape->n), most = BLOCKS_AN_SM * heddle_cuda_multiprocessors();
    const unsigned blocks = needed < most ? needed : most;
    select_zeros<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->n, count, output);
    return heddle_cuda_launched("cub");
}

HEDDLE_CUDA_RUNG("select", "cub", launch)
