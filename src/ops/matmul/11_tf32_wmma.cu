// matmul, tf32, rung 11: tensor cores, by the wmma interface.
//
// The float32 units do one multiplication per lane and cycle; tensor cores do a matrix of them, if each float is
// rounded to 10 bits of mantissa first. Here a block keeps a tile of each operand in shared memory, rounded on its way
// there, where 64 rows and columns share it, and a warp multiplies 16×16×8 with one instruction. How the 32 lanes hold
// a fragment is not specified: it is loaded, multiplied and stored as a whole, and the sums go through shared memory to
// be scaled.
//
// Limited by: waiting. Nothing is loaded while the tile is multiplied, and nothing multiplied while the next is loaded;
// rows a few bytes out of step (PADDING) avoid the worst of the bank conflicts, not all.

#include "ops/matmul/wmma.h"

static heddle_status launch(const heddle_call *call)
{
    return matmul_wmma_launch<float>(call, "11_tf32_wmma");
}

HEDDLE_CUDA_RUNG("matmul_forward", "11_tf32_wmma", launch)
