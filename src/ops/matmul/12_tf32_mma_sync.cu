// matmul, tf32, rung 12: mma.sync on tiles that arrive while others are multiplied.
//
// Rung 11 waited for every tile: load, store to shared memory, barrier, multiply. Here cp.async copies tiles straight
// from global to shared memory, STAGES - 1 of them ahead of the products. Rows of a tile are swizzled by 16-byte
// chunks, so that ldmatrix has no bank conflicts. To ldmatrix, four floats are a row of eight halves; lane l receives
// row l / 4, float l % 4, as mma.sync expects. ldmatrix cannot transpose floats, so for operands stored the other way
// round each lane loads its floats one by one.
//
// A float is rounded to tf32 in a register.
//
// Limited by: shared memory and issue slots. Every fragment passes through registers, where it is rounded, and the
// eight warps load each element of a 4 times and of b 2 times. wgmma reads shared memory itself.

#include "ops/matmul/matmul_tf32_cuda.h"
#include "ops/matmul/mma_sync.h"

heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call)
{
    return matmul_mma_sync_launch<float>(call, "12_tf32_mma_sync");
}

HEDDLE_CUDA_RUNG("matmul_forward", "12_tf32_mma_sync", heddle_matmul_tf32_mma_sync)
