// matmul, rung 3: tiles of a and b in shared memory.
//
// Rung 2 read each row of a from global memory for every column of the output, and each column of b for every row. Here
// a block of 32 by 32 threads fetches a 32 by 32 tile of each, an element a thread, and uses every one 32 times: global
// loads fall to a 32nd.
//
// Limited by: shared memory. A multiplication still takes two loads, of tile_a (one address per warp) and of tile_b (a
// row of it), and a multiprocessor answers one request of a warp a cycle where it could multiply for four warps.

#include "ops/matmul/tile.h"

enum {
    TILE = 32, // a warp is a row of the tile, so that a row is one coalesced request
    THREADS = TILE * TILE,
};

// a: (m, k), b: (n, k), output: (m, n). The loads are coalesced as long as nothing is transposed.
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
        __syncthreads(); // nobody needs them any more
    }
    matmul_write(shape, output, corner.row + y, corner.column + x, sum);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_shared_tiles, "03_shared_tiles", TILE, TILE, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "03_shared_tiles", launch)
