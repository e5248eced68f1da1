// matmul, rung 3: tiles of a and b in shared memory.
//
// Rung 2 read each row of a from global memory for every column of the output, and each column of b for every row. Here
// a block of 32 by 32 threads loads a 32 by 32 tile of each, one element per thread, and uses every element 32 times.
// Global loads drop to 1/32.
//
// Limited by: shared memory. Each multiplication still needs two loads, from tile_a (one address per warp) and tile_b
// (one row per warp). Shared memory serves one warp request per cycle, but the SM could issue multiplications for four
// warps.

#include "ops/matmul/tile.h"

enum {
    TILE = 32, // a warp handles one row of the tile, so a row is one coalesced request
    THREADS = TILE * TILE,
};

// a: (m, k), b: (n, k), output: (m, n). The loads are coalesced if nothing is transposed.
__global__ void __launch_bounds__(THREADS)
    matmul_shared_tiles(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE]; // (m, k) and (k, n)
    matmul_corner corner = matmul_tile_of(shape, TILE, TILE);
    int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    float sum = 0;
    for (int k = 0; k < shape.k; k += TILE) {
        tile_a[y][x] = matmul_at(a, corner.row + y, k + x);
        tile_b[y][x] = matmul_at(b, corner.column + x, k + y);
        __syncthreads(); // the tiles are complete
        for (int p = 0; p < TILE; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        __syncthreads(); // no thread needs them any more
    }
    matmul_write(shape, output, corner.row + y, corner.column + x, sum);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_shared_tiles, "03_shared_tiles", TILE, TILE, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "03_shared_tiles", launch)
