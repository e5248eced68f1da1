// What the tf32 rungs of matmul share.
#ifndef HEDDLE_OPS_MATMUL_TF32_CUDA_H
#define HEDDLE_OPS_MATMUL_TF32_CUDA_H

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Takes any shape and alignment: what the copy engine refuses goes there.
heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call);

// Whether operands start at multiples of 16 bytes, as TMA wants it. That their rows do, the table's `supports` says.
static inline bool matmul_tf32_tma_takes(const heddle_call *call)
{
    const size_t alignment = 16;
    return ((size_t)call->input[0] | (size_t)call->input[1] | (size_t)call->output[0]) % alignment == 0;
}

// Two neighbouring columns of the output, of an even number of columns: one 8-byte store, four lanes a whole sector.
__device__ static inline void matmul_tf32_store_pair(const heddle_matmul_shape *shape, float *output, int row,
                                                     int column, float first, float second)
{
    if (row >= shape->m || column >= shape->n)
        return;
    float2 *place = (float2 *)&output[(size_t)row * shape->n + column];
    float2 value = {shape->alpha * first, shape->alpha * second};
    if (shape->beta != 0.0f) {
        float2 old = *place;
        value.x += shape->beta * old.x, value.y += shape->beta * old.y;
    }
    *place = value;
}

#endif
