// matmul_bf16, rung 3: mma.sync on tiles that arrive while others are multiplied.
//
// Rung 2 waited for every tile: load, store to shared memory, barrier, multiply. Here cp.async copies tiles straight
// from global to shared memory, STAGES - 1 of them ahead of the products. A row of a tile is swizzled by 16-byte
// chunks, so that ldmatrix, which fetches four 8 by 8 matrices at a time in the very layout that mma.sync wants, finds
// every bank once; with .trans it does so for operands stored the other way round.
//
// A warp multiplies 64 x 64: for 16 of k it fetches 64 * 16 + 64 * 16 elements for 64 * 64 * 16 products.
//
// Limited by: shared memory. Every fragment passes through registers, and the eight warps fetch each element of a 4
// times and of b 2 times; the instructions that do so take issue slots from the tensor cores. wgmma reads shared memory
// itself.

#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/swizzled.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

enum {
    TILE_M = 128,
    TILE_N = 256,
    TILE_K = 64, // 128 bytes: a swizzled row
    STAGES = 3,  // 48 KiB each: what a multiprocessor of Ampere holds, too
    WARPS_M = 2,
    WARPS_N = 4,
    WARP_M = TILE_M / WARPS_M,
    WARP_N = TILE_N / WARPS_N,
    THREADS = WARPS_M * WARPS_N * 32,
    MMA_M = 16,
    MMA_N = 8,
    MMA_K = 16,
    BLOCKS_M = WARP_M / MMA_M, // mma tiles of a warp
    BLOCKS_N = WARP_N / MMA_N,
    A_BYTES = TILE_M * TILE_K * 2,
    B_BYTES = TILE_N * TILE_K * 2,
    SHARED_BYTES = STAGES * (A_BYTES + B_BYTES),
};

// The 16 by 16 at (first, k) of a tile stored (first, k) or, where Transposed, (k, Width): for ldmatrix, lane i's row.
// The four matrices come in the order (0, 0), (8, 0), (0, 8), (8, 8) of (first, k).
template <int Transposed, int Width>
__device__ static void load_fragment(uint32_t (&fragment)[4], const unsigned char *tile, int first, int k)
{
    int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    if (Transposed)
        ldmatrix_x4_transposed(fragment,
                               tile + swizzled_at<Width * 2>(k + matrix / 2 * 8 + row, first / 8 + matrix % 2));
    else
        ldmatrix_x4(fragment, tile + swizzled_at<TILE_K * 2>(first + matrix % 2 * 8 + row, k / 8 + matrix / 2));
}

// sums (64, 64) of a warp += its rows of a (128, 64) times its columns of b (64, 256). The fragments of the next step
// are fetched while those of this one are multiplied.
template <int TransposeA, int TransposeB>
__device__ static void multiply(float (&sums)[BLOCKS_M][BLOCKS_N][4], const unsigned char *a, const unsigned char *b,
                                int warp_m, int warp_n)
{
    uint32_t rows[2][BLOCKS_M][4], columns[2][BLOCKS_N / 2][4];
#pragma unroll
    for (int step = -1; step < TILE_K / MMA_K; step++) {
        const int now = step & 1, next = now ^ 1, k = (step + 1) * MMA_K;
#pragma unroll
        for (int i = 0; k < TILE_K && i < BLOCKS_M; i++)
            load_fragment<TransposeA, TILE_M>(rows[next][i], a, warp_m * WARP_M + i * MMA_M, k);
#pragma unroll
        for (int j = 0; k < TILE_K && j < BLOCKS_N / 2; j++)
            load_fragment<!TransposeB, TILE_N>(columns[next][j], b, warp_n * WARP_N + j * 2 * MMA_N, k);
#pragma unroll
        for (int i = 0; step >= 0 && i < BLOCKS_M; i++)
#pragma unroll
            for (int j = 0; j < BLOCKS_N; j++) {
                const uint32_t column[2] = {columns[now][j / 2][j % 2], columns[now][j / 2][j % 2 + 2]};
                mma_m16n8k16_bfloat16(sums[i][j], rows[now][i], column, sums[i][j]);
            }
    }
}

__device__ static void store_one(const heddle_matmul_shape *shape, __nv_bfloat16 *output, int row, int column,
                                 float sum)
{
    if (row >= shape->m || column >= shape->n)
        return;
    __nv_bfloat16 *place = &output[(size_t)row * shape->n + column];
    float value = shape->alpha * sum;
    *place = __float2bfloat16(shape->beta == 0.0f ? value : value + shape->beta * __bfloat162float(*place));
}

// a: (m, k) or (k, m), b: (k, n) or (n, k), output: (m, n)
template <int TransposeA, int TransposeB>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_bf16_mma_sync(heddle_matmul_shape shape, const uint16_t *a, const uint16_t *b, __nv_bfloat16 *output,
                         bool vectors_a, bool vectors_b)
{
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned char *tiles_a = shared, *tiles_b = shared + STAGES * A_BYTES;
    const int across = (shape.n - 1) / TILE_N + 1; // tiles side by side
    const int row = blockIdx.x / across * TILE_M, column = blockIdx.x % across * TILE_N;
    const int warp_m = threadIdx.x / 32 / WARPS_N, warp_n = threadIdx.x / 32 % WARPS_N;
    const int tiles = (shape.k + TILE_K - 1) / TILE_K;
    auto load = [&](int tile) {
        unsigned char *to_a = tiles_a + tile % STAGES * A_BYTES, *to_b = tiles_b + tile % STAGES * B_BYTES;
        if (TransposeA)
            swizzled_load<uint16_t, TILE_K, TILE_M, THREADS>(to_a, a, shape.k, shape.m, tile * TILE_K, row, vectors_a);
        else
            swizzled_load<uint16_t, TILE_M, TILE_K, THREADS>(to_a, a, shape.m, shape.k, row, tile * TILE_K, vectors_a);
        if (TransposeB)
            swizzled_load<uint16_t, TILE_N, TILE_K, THREADS>(to_b, b, shape.n, shape.k, column, tile * TILE_K,
                                                             vectors_b);
        else
            swizzled_load<uint16_t, TILE_K, TILE_N, THREADS>(to_b, b, shape.k, shape.n, tile * TILE_K, column,
                                                             vectors_b);
    };
    float sums[BLOCKS_M][BLOCKS_N][4] = {};
    for (int tile = 0; tile < STAGES - 1; tile++) {
        if (tile < tiles)
            load(tile);
        cp_async_commit();
    }
    for (int tile = 0; tile < tiles; tile++) {
        cp_async_wait_group<STAGES - 2>();
        // After it the tile is there for all, and nobody reads the one before any more: its stage can be filled, once
        // the tensor cores have work.
        __syncthreads();
        multiply<TransposeA, TransposeB>(sums, tiles_a + tile % STAGES * A_BYTES, tiles_b + tile % STAGES * B_BYTES,
                                         warp_m, warp_n);
        if (tile + STAGES - 1 < tiles)
            load(tile + STAGES - 1);
        cp_async_commit();
    }
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
        for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                store_one(&shape, output, row + warp_m * WARP_M + i * MMA_M + e / 2 * 8 + lane / 4,
                          column + warp_n * WARP_N + j * MMA_N + lane % 4 * 2 + e % 2, sums[i][j][e]);
}

template <int TransposeA, int TransposeB> static void launch_layout(const heddle_call *call, cudaStream_t stream)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const uint16_t *a = (const uint16_t *)call->input[0], *b = (const uint16_t *)call->input[1];
    auto kernel = matmul_bf16_mma_sync<TransposeA, TransposeB>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(shape->m, TILE_M) * heddle_ceil_div(shape->n, TILE_N);
    kernel<<<blocks, THREADS, SHARED_BYTES, stream>>>(
        *shape, a, b, (__nv_bfloat16 *)call->output[0],
        swizzled_vectors(a, sizeof *a * (size_t)(TransposeA ? shape->m : shape->k)),
        swizzled_vectors(b, sizeof *b * (size_t)(TransposeB ? shape->k : shape->n)));
}

heddle_status heddle_matmul_bf16_mma_sync(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    if (shape->transpose_a)
        shape->transpose_b ? launch_layout<1, 1>(call, stream) : launch_layout<1, 0>(call, stream);
    else
        shape->transpose_b ? launch_layout<0, 1>(call, stream) : launch_layout<0, 0>(call, stream);
    return heddle_cuda_launched("03_mma_sync");
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "03_mma_sync", heddle_matmul_bf16_mma_sync)
