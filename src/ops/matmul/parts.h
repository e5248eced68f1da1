// Products of fp32 class: float32 in and out, multiplied on tensor cores as sums of shorter numbers (rungs 15 and 16).
// Here stands what both share: how such a product is cut into tiles (C as well as CUDA: the operator's table has to
// say how much workspace a shape takes), what becomes of a finished sum, and what of one that is not finite.
//
// What fp32 class means
//   A float has 24 bits of mantissa; tensor cores take 8 (bfloat16) or 11 (tf32), of the same exponent. So each float
//   is split in parts, the nearest such number, then the nearest to what that leaves, and the products of parts are
//   added, but for the smallest. Error of one product, of its own size: below 2^-24 by three bfloat16 and six products
//   (rung 16), about 2^-22 by two tf32 and three products (rung 15); that of rounding it to float32 is 2^-24. Tensor
//   cores cut sums off where float32 would round, which in a long sum adds up: so they add only a few steps of k, from
//   zero, and the running sums are ordinary float32 additions. The result is as far from float64 as that of float32
//   units, whose error is that of the long sum as well.
//
//   Not finite: the parts of infinity, and of what rounds up to it, have differences and products that are not numbers
//   where float32 has infinity. A sum that is not finite is therefore computed again, by float32 multiply-adds one
//   after another: infinities and NaN come out as in float32. Where most of a result is not finite, that takes long.
//   Small: parts are 2^-8 to 2^-18 of the number. Below about 2^-110 the last of them is denormal or zero, so that a
//   number counts to within 2^-133 and no longer to 24 bits of its own.
#pragma once

#include <stddef.h>

#include "heddle/ops.h"

enum {
    HEDDLE_PARTS_DEPTH = 32, // steps of k that tensor cores add up before float32 does
    // Of an H100 or H200. What is planned must not depend on the card: the workspace is measured before one is chosen.
    HEDDLE_PARTS_MULTIPROCESSORS = 132,
    HEDDLE_PARTS_MOST_SPLITS = 32,
};

// A tile of the output that there is a kernel for, and what it costs: fitted to times on an H200.
typedef struct heddle_parts_tile {
    int m, n;
    int resident;         // blocks that a multiprocessor holds
    double step, started; // µs that HEDDLE_PARTS_DEPTH of k take with so many blocks, and a block beside them
} heddle_parts_tile;

typedef struct heddle_parts_plan {
    int tile;   // of those given
    int splits; // parts of k, each summed by blocks of its own; more than one: the sums go through the workspace
} heddle_parts_plan;

static inline long long heddle_parts_ceil(long long value, long long divisor)
{
    return (value + divisor - 1) / divisor;
}

// Time of a product: rounds of blocks over the multiprocessors, and the pass that adds parts of k up.
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

// Floats of the workspace that sums of parts of k take.
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

// Bytes of an operand (rows, k) in parts, its rows and k filled up with zeros: a multiple of 128.
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
