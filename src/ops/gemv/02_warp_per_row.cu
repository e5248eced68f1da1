// gemv, rung 2: one warp per row; transposed, eight warps per 32 columns.
//
// In rung 1 a warp's loads were a row apart. Here its 32 lanes read 32 neighbours of one row, and shuffles add their
// sums. Transposed the loads were coalesced already, but a column had one thread. Here it has eight, one in each warp
// of a block, which take rows in turn and add their sums in shared memory.
//
// Limited by: 4 bytes per load, and x, which is read again for every row. A matrix with few rows (transposed: with few
// columns) leaves most of the GPU idle.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum { WARP = HEDDLE_WARP, WARPS = HEDDLE_CUDA_BLOCK / WARP };

// a: (m, n), x: (n), y: (m)
__global__ void gemv_warp_per_row(heddle_gemv_shape shape, const float *a, const float *x, float *y)
{
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= (size_t)shape.m) // a whole warp
        return;
    float sum = 0;
    for (int col = threadIdx.x; col < shape.n; col += WARP)
        sum += a[row * shape.n + col] * x[col];
    sum = heddle_lanes_combine<WARP, false>(sum);
    if (threadIdx.x == 0)
        y[row] = sum;
}

// a: (m, n), x: (m), y: (n)
__global__ void gemv_transposed_warps(heddle_gemv_shape shape, const float *a, const float *x, float *y)
{
    __shared__ float of_warp[WARPS][WARP];
    int col = (int)(blockIdx.x * WARP + threadIdx.x);
    float sum = 0;
    for (int row = threadIdx.y; col < shape.n && row < shape.m; row += WARPS)
        sum += a[(size_t)row * shape.n + col] * x[row];
    of_warp[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || col >= shape.n)
        return;
    for (int warp = 1; warp < WARPS; warp++)
        sum += of_warp[warp][threadIdx.x];
    y[col] = sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_gemv_shape *shape = (const heddle_gemv_shape *)call->shape;
    unsigned blocks = shape->transpose ? heddle_ceil_div(shape->n, WARP) : heddle_ceil_div(shape->m, WARPS);
    if (blocks > 0)
        (shape->transpose ? gemv_transposed_warps
                          : gemv_warp_per_row)<<<blocks, dim3(WARP, WARPS), 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("02_warp_per_row");
}

HEDDLE_CUDA_RUNG("gemv", "02_warp_per_row", launch)
