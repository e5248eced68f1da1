// What the CUDA rungs of matmul_bf16 share.
#pragma once

#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Rung 3, which takes any shape and alignment: the fallback for what TMA does not accept.
heddle_status heddle_matmul_bf16_mma_sync(const heddle_call *call);

// Two neighbouring columns of the output; the number of columns is even. One 4-byte store.
__device__ static inline void matmul_bf16_store_pair(const heddle_matmul_shape *shape, __nv_bfloat16 *output, int row,
                                                     int column, float first, float second)
{
    if (row >= shape->m || column >= shape->n)
        return;
    __nv_bfloat162 *place = (__nv_bfloat162 *)&output[(size_t)row * shape->n + column];
    first *= shape->alpha, second *= shape->alpha;
    if (shape->beta != 0.0f) {
        __nv_bfloat162 old = *place;
        first += shape->beta * __low2float(old), second += shape->beta * __high2float(old);
    }
    *place = __floats2bfloat162_rn(first, second);
}

// Stores a warpgroup's sums (64, 256), as wgmma leaves them, to the output at (row, column).
__device__ static inline void matmul_bf16_store(const float (&sums)[128], const heddle_matmul_shape *shape,
                                                __nv_bfloat16 *output, int row, int column)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    for (int i = 0; i < 128; i += 2)
        matmul_bf16_store_pair(shape, output, row + warp * 16 + i / 2 % 2 * 8 + lane / 4,
                               column + i / 4 * 8 + lane % 4 * 2, sums[i], sums[i + 1]);
}
