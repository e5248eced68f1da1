// matmul, tf32, rung 11: tensor cores through the wmma interface.
//
// The float32 units do one multiplication per lane and cycle. Tensor cores multiply small matrices at once, if each
// float is first rounded to 10 bits of mantissa. Here a block keeps a tile of each operand in shared memory, rounded as
// it is stored there and shared by 64 rows and columns. A warp multiplies 16×16×8 with one instruction. How the 32
// lanes hold a fragment is not specified: it is loaded, multiplied and stored as a whole, and the sums go through
// shared memory to be scaled.
//
// Limited by: latency. Nothing is loaded while a tile is multiplied, and nothing is multiplied while the next is
// loaded. Padded rows (PADDING) avoid the worst bank conflicts, but not all.

#include "ops/matmul/wmma.h"

static heddle_status launch(const heddle_call *call)
{
    return matmul_wmma_launch<float>(call, "11_tf32_wmma");
}

HEDDLE_CUDA_RUNG("matmul_forward", "11_tf32_wmma", launch)
