// matmul_int8, rung 4: wgmma, which runs Hopper's tensor cores at their full rate for bytes.
//
// Rung 3 was limited by mma.sync, whose operands pass through registers. wgmma reads both from shared memory, where TMA
// puts them: 64 by 256 by 32 products per instruction, summed in int32. The kernel is that of matmul_bf16's rung 6: one
// warpgroup loads and two multiply, in persistent blocks whose clusters share their loads. For 8-bit types wgmma takes
// operands whose rows lie along k, as a and b do here. TMA needs rows that start at multiples of 16 bytes; others are
// copied into the workspace first.
//
// New is how a tile is stored. Its output has as many bytes as its sums, and not all of them fit in registers beside
// those of the next tile. So of 256 columns the first half is scaled and stored when the tile is finished; the other
// waits as int32 and is scaled and stored behind the next tile's first products.
//
// Limited by: the tensor cores and their power. A warpgroup reads (64 + 256) * 32 bytes of shared memory in the 128
// cycles of a wgmma, 5/8 of its bandwidth. What is stored when a tile is finished comes on top.

#include "ops/matmul/wgmma_persistent.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = (const heddle_matmul_int8_shape *)call->shape;
    persistent_product<int8_t> product = {
        {.m = shape->m, .n = shape->n, .k = shape->k, .transpose_a = 0, .transpose_b = 1, .alpha = 1, .beta = 0},
        {(const float *)call->input[2], (const float *)call->input[3]},
        "04_wgmma",
        {},
        {}};
    return persistent_launch_bytes(call, &product);
}

HEDDLE_CUDA_RUNG("matmul_int8", "04_wgmma", launch)
