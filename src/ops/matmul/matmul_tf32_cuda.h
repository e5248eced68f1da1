// What the tf32 rungs of matmul share on the host.
#ifndef HEDDLE_OPS_MATMUL_TF32_CUDA_H
#define HEDDLE_OPS_MATMUL_TF32_CUDA_H

#include "ops/cuda/rung.h"

// Takes any shape and alignment: what the copy engine refuses goes there.
heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call);

// Whether operands start at multiples of 16 bytes, as TMA wants it. That their rows do, the table's `supports` says.
static inline bool matmul_tf32_tma_takes(const heddle_call *call)
{
    const size_t alignment = 16;
    return ((size_t)call->input[0] | (size_t)call->input[1] | (size_t)call->output[0]) % alignment == 0;
}

#endif
