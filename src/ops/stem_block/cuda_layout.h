// How the fused CUDA rungs of stem_block cut their work, and the layout of their workspace: shared by the kernels and
// the operators' tables.
#pragma once

#include "ops/stem_block/stem_block.h"

#ifdef __CUDACC__
#define STEM_BLOCK_BOTH static inline __host__ __device__ // for launchers and kernels
#else
#define STEM_BLOCK_BOTH static inline
#endif

enum {
    STEM_BLOCK_FILTERS = 32, // per warp: one per lane

    STEM_BLOCK_TILE_COLUMNS = 32, // pooling windows per tile, at most: as much of the image as fits in shared memory
    STEM_BLOCK_TILE_ROWS = 16,    // beside their results
    STEM_BLOCK_TILE_WINDOWS = 128,
    STEM_BLOCK_ENOUGH_TILES = 264, // two per SM of a large GPU; with fewer, tiles are made smaller

    STEM_BLOCK_RUN = 16, // moments: rows that a thread walks down, at most
    STEM_BLOCK_MOMENT_THREADS = 128,
    STEM_BLOCK_MOST_PARTS = 528, // blocks that store sums: four per SM
};

static inline int stem_block_ceil_div(long long value, long long divisor)
{
    return (int)((value + divisor - 1) / divisor);
}

// Columns of the folded weight: whole warps.
static inline int stem_block_columns(const heddle_conv_block_shape *shape)
{
    return stem_block_ceil_div(shape->k, STEM_BLOCK_FILTERS) * STEM_BLOCK_FILTERS;
}

// --- tiles of windows -----------------------------------------------------------------------------------------------

typedef struct stem_block_tiling {
    int rows, columns; // windows of a tile
    int down, across;  // tiles of an image
    int stride;        // floats per row of the image in shared memory: even, with room for an extra pair of windows
} stem_block_tiling;

static inline stem_block_tiling stem_block_tiles(const heddle_conv_block_shape *shape)
{
    stem_block_tiling tiling;
    int high = shape->h / 2, wide = shape->w / 2;
    tiling.across = stem_block_ceil_div(wide, STEM_BLOCK_TILE_COLUMNS);
    tiling.columns = stem_block_ceil_div(wide, tiling.across);
    int most = STEM_BLOCK_TILE_WINDOWS / tiling.columns;
    most = most < STEM_BLOCK_TILE_ROWS ? most : STEM_BLOCK_TILE_ROWS;
    while (most > 1 && (double)shape->n * tiling.across * stem_block_ceil_div(high, most) < STEM_BLOCK_ENOUGH_TILES)
        most /= 2;
    tiling.down = stem_block_ceil_div(high, most);
    tiling.rows = stem_block_ceil_div(high, tiling.down);
    tiling.stride = 2 * (tiling.columns + tiling.columns % 2) + 2;
    return tiling;
}

static inline size_t stem_block_tile_count(const heddle_conv_block_shape *shape, const stem_block_tiling *tiling)
{
    return (size_t)shape->n * tiling->down * tiling->across;
}

// Floats of a tile of the image, one channel: its windows and one pixel around them.
static inline int stem_block_tile_plane(const stem_block_tiling *tiling)
{
    return (2 * tiling->rows + 2) * tiling->stride;
}

// Blocks of the sums over winners.
static inline int stem_block_sum_parts(const heddle_conv_block_shape *shape)
{
    stem_block_tiling tiling = stem_block_tiles(shape);
    size_t tiles = stem_block_tile_count(shape, &tiling);
    return tiles < STEM_BLOCK_MOST_PARTS ? (int)tiles : STEM_BLOCK_MOST_PARTS;
}

// --- moments --------------------------------------------------------------------------------------------------------

// Columns of pixels, at most STEM_BLOCK_RUN rows long: a thread walks down one.
typedef struct stem_block_runs {
    int rows;     // of a run
    int of_image; // runs per column
    size_t count; // in all images
    int parts;    // blocks that share them
    size_t of_part;
} stem_block_runs;

static inline stem_block_runs stem_block_runs_of(const heddle_conv_block_shape *shape)
{
    stem_block_runs runs;
    runs.of_image = stem_block_ceil_div(shape->h, STEM_BLOCK_RUN);
    runs.rows = stem_block_ceil_div(shape->h, runs.of_image);
    runs.count = (size_t)shape->n * runs.of_image * shape->w;
    size_t blocks = (runs.count + STEM_BLOCK_MOMENT_THREADS - 1) / STEM_BLOCK_MOMENT_THREADS;
    runs.parts = blocks < STEM_BLOCK_MOST_PARTS ? (int)blocks : STEM_BLOCK_MOST_PARTS;
    runs.of_part = (runs.count + runs.parts - 1) / runs.parts;
    return runs;
}

// What a block stores of its patches, in doubles: their number, its inverse, what was subtracted from each channel, the
// sums of the differences of each element, the sums of products (d, e), e >= d.
enum {
    STEM_BLOCK_PART_COUNT,
    STEM_BLOCK_PART_INVERSE,
    STEM_BLOCK_PART_CENTRES,
};

STEM_BLOCK_BOTH int stem_block_part_sums(int channels)
{
    return STEM_BLOCK_PART_CENTRES + channels;
}

STEM_BLOCK_BOTH int stem_block_part_products(int channels)
{
    return stem_block_part_sums(channels) + HEDDLE_CONV_BLOCK_TAPS * channels;
}

STEM_BLOCK_BOTH int stem_block_part_values(int channels)
{
    int patch = HEDDLE_CONV_BLOCK_TAPS * channels;
    return stem_block_part_products(channels) + patch * patch;
}

// --- workspace, in bytes --------------------------------------------------------------------------------------------

enum { STEM_BLOCK_ALIGNMENT = 256 };

static inline size_t stem_block_aligned(size_t bytes)
{
    return (bytes + STEM_BLOCK_ALIGNMENT - 1) / STEM_BLOCK_ALIGNMENT * STEM_BLOCK_ALIGNMENT;
}

// folded: (9c + 1, columns) floats: weight, then shift. First in the workspaces of forward and inference.
static inline size_t stem_block_folded_bytes(const heddle_conv_block_shape *shape)
{
    return stem_block_aligned(sizeof(float) * (heddle_stem_block_patch(shape) + 1) * stem_block_columns(shape));
}

// (values, parts) doubles, after it.
static inline size_t stem_block_moment_parts_bytes(const heddle_conv_block_shape *shape)
{
    return stem_block_aligned(sizeof(double) * stem_block_part_values(shape->c) * stem_block_runs_of(shape).parts);
}

// (k, 9c + 1, parts) floats: only for backward.
static inline size_t stem_block_sum_parts_bytes(const heddle_conv_block_shape *shape)
{
    return stem_block_aligned(sizeof(float) * shape->k * (heddle_stem_block_patch(shape) + 1) *
                              stem_block_sum_parts(shape));
}
