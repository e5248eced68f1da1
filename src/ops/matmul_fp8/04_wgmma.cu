// matmul_fp8, rung 4: wgmma on e4m3 itself, at twice the rate of fp16.
//
// Rung 3 converted every number several times on its way through registers. wgmma reads e4m3 from shared memory, where
// TMA puts it, 64 by 128 by 32 products per instruction. The kernel is that of matmul_bf16's rung 6: one warpgroup
// loads and two multiply, in persistent blocks whose clusters share their loads, and a finished tile is stored behind
// the products of the next.
//
// New is how it adds up. Hopper's tensor cores align the products of e4m3 with the largest of them and keep some 14
// bits: over thousands of k the sum would lose what is smaller than its last bit. So the sums of each stage, 128 of k,
// start at 0 and are then added to others in float32 on the regular cores ("promotion", as in DeepSeek-V3 and CUTLASS).
// The two multiplying warpgroups take turns by themselves: while one promotes, the tensor cores work for the other. The
// second set of sums takes 64 registers more per thread, so that a tile has 128 columns, not 256.
//
// TMA needs rows that start at multiples of 16 bytes. Operands with others are copied into the workspace first.
//
// Limited by: the tensor cores and their power. A warpgroup reads (64 + 128) * 32 bytes of shared memory in the 64
// cycles of a wgmma, 3/4 of its bandwidth. What promotion does not hide comes on top.

#include "ops/matmul/wgmma_persistent.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_fp8_shape *shape = (const heddle_matmul_fp8_shape *)call->shape;
    persistent_product<__nv_fp8_e4m3> product = {
        {.m = shape->m, .n = shape->n, .k = shape->k, .transpose_a = 0, .transpose_b = 1, .alpha = 1, .beta = 0},
        {(const float *)call->input[2], (const float *)call->input[3]},
        "04_wgmma",
        {},
        {}};
    return persistent_launch_bytes(call, &product);
}

HEDDLE_CUDA_RUNG("matmul_fp8", "04_wgmma", launch)
