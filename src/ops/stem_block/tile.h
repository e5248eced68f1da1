// A tile of pooling windows and the pixels that they see, in shared memory: what the fused rungs of stem_block work on,
// forward and backward. A lane is a filter, and a warp takes every eighth window of the tile. All lanes of a warp read
// the same pixels; its pooled values are adjacent.
#pragma once

#include "ops/cuda/rung.h"
#include "ops/stem_block/cuda_layout.h"

enum {
    STEM_BLOCK_TAPS = HEDDLE_CONV_BLOCK_TAPS,
    STEM_BLOCK_WARPS = 8,
    STEM_BLOCK_THREADS = STEM_BLOCK_WARPS * 32,
    STEM_BLOCK_CENTRE_TAP = 4, // sees every pixel of its plane once: its mean is the plane's
};

// The windows of a tile: `rows` by `columns` from (y, x) on, of one image.
typedef struct stem_block_tile {
    size_t n;
    int y, x, rows, columns;
} stem_block_tile;

__device__ static inline stem_block_tile stem_block_tile_at(const heddle_conv_block_shape &shape,
                                                            const stem_block_tiling &tiling, size_t number)
{
    stem_block_tile tile;
    tile.x = (int)(number % tiling.across) * tiling.columns;
    tile.y = (int)(number / tiling.across % tiling.down) * tiling.rows;
    tile.n = number / tiling.across / tiling.down;
    tile.rows = max(0, min(tiling.rows, shape.h / 2 - tile.y));
    tile.columns = max(0, min(tiling.columns, shape.w / 2 - tile.x));
    return tile;
}

// What is subtracted from a channel's pixels, so that large sums do not hide small differences; also from the zeros
// around the image. moments: NULL: nothing
__device__ static inline float stem_block_centre(const double *moments, int c)
{
    return moments ? (float)moments[c * STEM_BLOCK_TAPS + STEM_BLOCK_CENTRE_TAP] : 0.0f;
}

__device__ static inline float stem_block_pixel(const heddle_conv_block_shape &shape, const float *input, size_t n,
                                                int c, int y, int x)
{
    if (y < 0 || y >= shape.h || x < 0 || x >= shape.w)
        return 0;
    return shape.input_channels_last ? input[((n * shape.h + y) * shape.w + x) * shape.c + c]
                                     : input[((n * shape.c + c) * shape.h + y) * shape.w + x];
}

// image: (c, 2 * rows + 2, stride), from the pixel above and left of the first window on
__device__ static inline void stem_block_load_image(const heddle_conv_block_shape &shape,
                                                    const stem_block_tiling &tiling, const stem_block_tile &tile,
                                                    const float *input, const double *moments, float *image)
{
    int lines = 2 * tiling.rows + 2;
    for (int line = threadIdx.x / 32; line < shape.c * lines; line += STEM_BLOCK_WARPS) {
        int c = line / lines, y = tile.y * 2 + line % lines - 1;
        float centre = stem_block_centre(moments, c);
        for (int i = threadIdx.x % 32; i < tiling.stride; i += 32)
            image[line * tiling.stride + i] = stem_block_pixel(shape, input, tile.n, c, y, tile.x * 2 + i - 1) - centre;
    }
}

// Pooled values of (n, k, h/2, w/2) pass through shared memory: (32, windows of a tile), odd rows, so that lanes, which
// are filters here, use different banks.
STEM_BLOCK_BOTH int stem_block_turned_row(const stem_block_tiling &tiling)
{
    return tiling.rows * tiling.columns | 1;
}

// Where window `window` of the tile lies in (n, k, h/2, w/2), for filter k.
__device__ static inline size_t stem_block_turned_at(const heddle_conv_block_shape &shape, const stem_block_tile &tile,
                                                     int k, int window)
{
    int y = tile.y + window / tile.columns, x = tile.x + window % tile.columns;
    return ((tile.n * shape.k + k) * (shape.h / 2) + y) * (shape.w / 2) + x;
}

// The same in (n, h/2, w/2, k), as the code always is.
__device__ static inline size_t stem_block_pooled_at(const heddle_conv_block_shape &shape, const stem_block_tile &tile,
                                                     int k, int row, int column)
{
    return ((tile.n * (shape.h / 2) + tile.y + row) * (shape.w / 2) + tile.x + column) * shape.k + k;
}
