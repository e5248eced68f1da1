// gemv, rung 1: one thread per element of y.
//
// Transposed, neighbouring threads read neighbouring columns, which is coalesced. Otherwise each thread walks along its
// own row, and the loads of a warp are a row apart: 32 sectors per request, of which 4 bytes each are used at once.
//
// Limited by: uncoalesced loads, or, transposed, by few threads with one load in flight each.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// a: (m, n), x: (n), y: (m); transposed x: (m), y: (n)
__global__ void gemv_naive(heddle_gemv_shape shape, const float *a, const float *x, float *y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (shape.transpose && i < (size_t)shape.n) {
        for (int row = 0; row < shape.m; row++)
            sum += a[(size_t)row * shape.n + i] * x[row];
        y[i] = sum;
    } else if (!shape.transpose && i < (size_t)shape.m) {
        for (int col = 0; col < shape.n; col++)
            sum += a[i * shape.n + col] * x[col];
        y[i] = sum;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_gemv_shape *shape = (const heddle_gemv_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->transpose ? shape->n : shape->m);
    if (blocks > 0)
        gemv_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("gemv", "01_naive", launch)
