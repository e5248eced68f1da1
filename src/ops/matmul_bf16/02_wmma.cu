// matmul_bf16, rung 2: tensor cores through the wmma interface.
//
// Rung 1 loaded two numbers per multiplication and multiplied one pair at a time. Here a block keeps a tile of each
// operand in shared memory, shared by 64 rows and columns, and a warp multiplies 16×16×16 with one instruction. How the
// 32 lanes hold a fragment is not specified: it is loaded, multiplied and stored as a whole, and the sums go through
// shared memory to be scaled and rounded.
//
// Limited by: latency. Nothing is loaded while a tile is multiplied, and nothing is multiplied while the next is
// loaded. Padded rows (PADDING) avoid the worst bank conflicts, but not all.

#include "ops/matmul/wmma.h"

static heddle_status launch(const heddle_call *call)
{
    return matmul_wmma_launch<__nv_bfloat16>(call, "02_wmma");
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "02_wmma", launch)
