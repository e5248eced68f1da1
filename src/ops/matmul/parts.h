// Products of fp32 class: float32 in and out, multiplied on tensor cores as sums of shorter numbers (rungs 15 and 16).
// Both rungs share this: how such a product is cut into tiles (in C as well as CUDA, because the operator's table
// states the workspace of a shape), the epilogue of a finished sum, and the handling of sums that are not finite.
//
// What fp32 class means
//   A float has 24 bits of mantissa; tensor cores take 8 (bfloat16) or 11 (tf32), with the same exponent. So each
//   float is split in parts: the nearest such number, then the nearest to the rest. The products of parts are added,
//   except for the smallest. The relative error of one product is below 2^-24 with three bfloat16 and six products
//   (rung 16), and about 2^-22 with two tf32 and three products (rung 15); rounding it to float32 costs 2^-24. Tensor
//   cores truncate sums where float32 would round, which adds up in a long sum. So they add only a few steps of k,
//   from zero, and the running sums are ordinary float32 additions. The result is as far from float64 as the result
//   of the float32 units, which also have the error of the long sum.
//
//   Not finite: the parts of infinity, and of numbers that round up to it, give NaN where float32 gives infinity. A
//   sum that is not finite is therefore computed again, by float32 multiply-adds in order: infinities and NaN come out
//   as in float32. If most of a result is not finite, that takes long.
//   Small: parts are 2^-8 to 2^-18 of the number. Below about 2^-110 the last of them is denormal or zero, so a
//   number is accurate to 2^-133 and no longer to 24 bits of its own.
#pragma once

#include <stddef.h>

#include "heddle/ops.h"

enum {
    HEDDLE_PARTS_DEPTH = 32, // steps of k that tensor cores add before float32 does
    // Of an H100 or H200. The plan must not depend on the GPU: the workspace is computed before a GPU is chosen.
    HEDDLE_PARTS_MULTIPROCESSORS = 132,
    HEDDLE_PARTS_MOST_SPLITS = 32,
};

// A tile of the output that has a kernel, and its cost, fitted to times on an H200.
typedef struct heddle_parts_tile {
    int m, n;
    int resident;         // blocks per SM
    double step, started; // µs per HEDDLE_PARTS_DEPTH of k with that many blocks, and per block beside them
} heddle_parts_tile;

typedef struct heddle_parts_plan {
    int tile;   // of those given
    int splits; // parts of k, each summed by its own blocks; if more than one, the sums go through the workspace
} heddle_parts_plan;

static inline long long heddle_parts_ceil(long long value, long long divisor)
{
    return (value + divisor - 1) / divisor;
}

// Time of a product: waves of blocks over the SMs, and the pass that adds parts of k.
static inline double heddle_parts_time(const heddle_parts_tile *tile, const heddle_matmul_shape *shape, int splits)
{
    const double second_pass = 3, float_of_part = 1.5e-6; // µs: the kernel, and each float that it reads
    long long tiles = heddle_parts_ceil(shape->m, tile->m) * heddle_parts_ceil(shape->n, tile->n);
    long long steps = heddle_parts_ceil(heddle_parts_ceil(shape->k, HEDDLE_PARTS_DEPTH), splits);
    long long blocks = heddle_parts_ceil(tiles * splits, HEDDLE_PARTS_MULTIPROCESSORS); // of the busiest one
    double rounds = (double)heddle_parts_ceil(blocks, tile->resident);
    double time = (double)blocks / tile->resident * tile->step * (double)steps + rounds * tile->started;
    return splits > 1 ? time + second_pass + float_of_part * splits * shape->m * shape->n : time;
}

static inline heddle_parts_plan heddle_parts_plan_of(const heddle_parts_tile *tiles, int count,
                                                     const heddle_matmul_shape *shape)
{
    heddle_parts_plan best = {0, 1};
    double least = heddle_parts_time(&tiles[0], shape, 1);
    for (int tile = 0; tile < count; tile++)
        for (int splits = 1; splits <= HEDDLE_PARTS_MOST_SPLITS; splits++) {
            if (splits > 1 && splits * HEDDLE_PARTS_DEPTH > shape->k)
                break;
            double time = heddle_parts_time(&tiles[tile], shape, splits);
            if (time < least) {
                least = time;
                best.tile = tile;
                best.splits = splits;
            }
        }
    return best;
}

// Floats of workspace for the sums of parts of k.
static inline size_t heddle_parts_partial(const heddle_matmul_shape *shape, int splits)
{
    return splits > 1 ? (size_t)splits * shape->m * shape->n : 0;
}

// --- rung 15 ---------------------------------------------------------------------------------------------------------

static inline heddle_parts_plan heddle_tf32x3_plan(const heddle_matmul_shape *shape)
{
    static const heddle_parts_tile tiles[] = {{128, 64, 2, 0.55, 3.0}};
    return heddle_parts_plan_of(tiles, 1, shape);
}

static inline size_t heddle_tf32x3_workspace(const heddle_matmul_shape *shape)
{
    return heddle_parts_partial(shape, heddle_tf32x3_plan(shape).splits) * sizeof(float);
}

// --- rung 16 ---------------------------------------------------------------------------------------------------------

enum {
    HEDDLE_BF16X6_PARTS = 3,
    HEDDLE_BF16X6_TILE_M = 128,
    HEDDLE_BF16X6_PANEL_M = 64, // rows of a that are packed together: what one product of a warpgroup takes
};

static const heddle_parts_tile heddle_bf16x6_tiles[] = {
    {HEDDLE_BF16X6_TILE_M, 64, 1, 0.52, 3.0},
    {HEDDLE_BF16X6_TILE_M, 128, 1, 1.0, 4.0},
};

static inline heddle_parts_plan heddle_bf16x6_plan(const heddle_matmul_shape *shape)
{
    return heddle_parts_plan_of(heddle_bf16x6_tiles, sizeof heddle_bf16x6_tiles / sizeof *heddle_bf16x6_tiles, shape);
}

// Bytes of an operand (rows, k) in parts, with rows and k padded with zeros: a multiple of 128.
static inline size_t heddle_bf16x6_packed(int rows, int tile, int k)
{
    size_t elements =
        (size_t)heddle_parts_ceil(rows, tile) * tile * heddle_parts_ceil(k, HEDDLE_PARTS_DEPTH) * HEDDLE_PARTS_DEPTH;
    return elements * HEDDLE_BF16X6_PARTS * 2;
}

static inline size_t heddle_bf16x6_workspace(const heddle_matmul_shape *shape)
{
    heddle_parts_plan plan = heddle_bf16x6_plan(shape);
    return heddle_bf16x6_packed(shape->m, HEDDLE_BF16X6_TILE_M, shape->k) +
           heddle_bf16x6_packed(shape->n, heddle_bf16x6_tiles[plan.tile].n, shape->k) +
           heddle_parts_partial(shape, plan.splits) * sizeof(float);
}
