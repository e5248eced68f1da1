// saxpy, rung 2: four elements per thread, by 16-byte loads and stores.
//
// It takes a quarter of rung 1's instructions for the same bytes, and has four times the bytes in flight per waiting
// thread.
//
// Limited by: memory bandwidth. x is read once; y is read and written once.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

// x, y: (n)
template <bool aligned> __global__ void saxpy_float4(int n, float alpha, const float *x, float *y)
{
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 from = heddle_load4<aligned>(x + first), to = heddle_load4<aligned>(y + first);
        heddle_store4<aligned>(y + first, make_float4(alpha * from.x + to.x, alpha * from.y + to.y,
                                                      alpha * from.z + to.z, alpha * from.w + to.w));
        return;
    }
    for (size_t i = first; i < (size_t)n; i++)
        y[i] = alpha * x[i] + y[i];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_saxpy_shape *shape = (const heddle_saxpy_shape *)call->shape;
    const float *x = (const float *)call->input[0];
    float *y = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape->n, HEDDLE_VECTOR));
    bool aligned = heddle_aligned16(x) && heddle_aligned16(y);
    if (blocks > 0)
        (aligned ? saxpy_float4<true>
                 : saxpy_float4<false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->alpha, x, y);
    return heddle_cuda_launched("02_float4");
}

HEDDLE_CUDA_RUNG("saxpy", "02_float4", launch)
