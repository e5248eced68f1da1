// scale_unless_one, rung 2: four elements per thread, by 16-byte loads and stores.
//
// Every thread reads the factor, which is in the cache after the first, and ends if it is 1: the host need not know the
// number, and a captured graph stays right whatever it is.
//
// Limited by: memory bandwidth; where the factor is 1, by the time to start the blocks.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum { MOST_BLOCKS = 16 }; // per SM: so few that starting them for nothing takes little time

// values: (n), factor: (1)
template <bool aligned> __global__ void scale_vectorised(int n, const float *factor, float *values)
{
    float by = *factor;
    if (by == 1)
        return;
    size_t step = (size_t)HEDDLE_VECTOR * gridDim.x * blockDim.x;
    for (size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x); first < (size_t)n;
         first += step) {
        if (first + HEDDLE_VECTOR <= (size_t)n) {
            float4 value = heddle_load4<aligned>(values + first);
            heddle_store4<aligned>(values + first, make_float4(value.x * by, value.y * by, value.z * by, value.w * by));
            continue;
        }
        for (size_t i = first; i < (size_t)n; i++)
            values[i] *= by;
    }
}

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    float *values = (float *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(n, HEDDLE_VECTOR));
    unsigned most = MOST_BLOCKS * (unsigned)heddle_cuda_multiprocessors();
    blocks = blocks > most ? most : blocks;
    auto kernel = heddle_aligned16(values) ? scale_vectorised<true> : scale_vectorised<false>;
    if (n > 0)
        kernel<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, (const float *)call->input[0], values);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("scale_unless_one", "02_vectorised", launch)
