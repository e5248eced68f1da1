// Running sums in levels: each tile is scanned by itself, the totals of the tiles are scanned the same way, and the sum
// before a tile is added to all of its elements. Rungs 1 and 2 share this; each brings the kernel that scans a tile.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Queues the scan of every tile of input (n) into output (n), and each tile's total into totals, which may be NULL.
typedef void heddle_scan_tiles(int n, const float *input, float *output, float *totals, unsigned tiles,
                               cudaStream_t stream);

// output: (n), totals: running sums of the tiles. Tile t adds the sum of the tiles before it.
template <int tile> __global__ void heddle_scan_add_totals(int n, const float *totals, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tile && i < (size_t)n)
        output[i] += totals[i / tile - 1];
}

template <int tile>
static void heddle_scan_levels(int n, const float *input, float *output, float *workspace, heddle_scan_tiles *scan,
                               cudaStream_t stream)
{
    unsigned tiles = heddle_ceil_div(n, tile);
    if (tiles == 0)
        return;
    float *totals = tiles > 1 ? workspace : NULL;
    scan(n, input, output, totals, tiles, stream);
    if (tiles == 1)
        return;
    heddle_scan_levels<tile>((int)tiles, totals, totals, workspace + tiles, scan, stream); // in place
    heddle_scan_add_totals<tile><<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, stream>>>(n, totals, output);
}
