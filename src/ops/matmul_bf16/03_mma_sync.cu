// matmul_bf16, rung 3: mma.sync on tiles that arrive while others are multiplied.
//
// Rung 2 waited for every tile: load, store to shared memory, barrier, multiply. Here cp.async copies tiles straight
// from global to shared memory, STAGES - 1 of them ahead of the products. ldmatrix loads four 8×8 matrices at a time in
// the layout that mma.sync expects. Rows of a tile are swizzled by 16-byte chunks, so that it has no bank conflicts;
// with .trans the same holds for operands stored the other way round.
//
// A warp multiplies 64×64: for 16 of k it loads 64 * 16 + 64 * 16 elements for 64 * 64 * 16 products.
//
// Limited by: shared memory. Every fragment passes through registers, and the eight warps load each element of a 4
// times and of b 2 times; these loads take issue slots from the tensor cores. wgmma reads shared memory itself.

#include "ops/matmul/mma_sync.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

heddle_status heddle_matmul_bf16_mma_sync(const heddle_call *call)
{
    return matmul_mma_sync_launch<__nv_bfloat16>(call, "03_mma_sync");
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "03_mma_sync", heddle_matmul_bf16_mma_sync)
