// matmul, tf32, rung 12: mma.sync on tiles that arrive while others are multiplied.
//
// Rung 11 waited for every tile: load, store to shared memory, barrier, multiply. Here cp.async copies tiles straight
// from global to shared memory, STAGES - 1 of them ahead of the products. A row of a tile is swizzled by 16-byte
// chunks, so that ldmatrix finds every bank once; to it four floats are a row of eight halves, and lane l receives row
// l / 4, float l % 4, as mma.sync wants it. What is stored the other way round cannot be turned by it: there each lane
// loads its floats one by one.
//
// A float is rounded to tf32 when it has arrived in a register.
//
// Limited by: shared memory and issue slots. Every fragment passes through registers, where it is rounded, and the
// eight warps fetch each element of a 4 times and of b 2 times. wgmma reads shared memory itself.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/swizzled.h"
#include "ops/matmul/matmul_tf32_cuda.h"

enum {
    TILE_M = 128,
    TILE_N = 256,
    TILE_K = 32, // 128 bytes: a swizzled row
    STAGES = 3,  // 48 KiB each: what a multiprocessor of Ampere holds, too
    WARPS_M = 2,
    WARPS_N = 4,
    WARP_M = TILE_M / WARPS_M,
    WARP_N = TILE_N / WARPS_N,
    THREADS = WARPS_M * WARPS_N * 32,
    MMA_M = 16,
    MMA_N = 8,
    MMA_K = 8,
    BLOCKS_M = WARP_M / MMA_M, // mma tiles of a warp
    BLOCKS_N = WARP_N / MMA_N,
    A_BYTES = TILE_M * TILE_K * 4,
    B_BYTES = TILE_N * TILE_K * 4,
    SHARED_BYTES = STAGES * (A_BYTES + B_BYTES),
};

// The 16 by 8 at (first, k) of a tile stored (first, k) or, where Transposed, (k, Width): lane l's elements of the four
// 8 by 4 matrices (0, 0), (8, 0), (0, 4), (8, 4) of (first, k).
template <int Transposed, int Width>
__device__ static void load_fragment(uint32_t (&fragment)[4], const unsigned char *tile, int first, int k)
{
    int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    if (!Transposed)
        ldmatrix_x4(fragment, tile + swizzled_at<TILE_K * 4>(first + matrix % 2 * 8 + row, k / 4 + matrix / 2));
    for (int i = 0; Transposed && i < 4; i++) {
        int column = first + i % 2 * 8 + lane / 4;
        fragment[i] =
            *(const uint32_t *)(tile + swizzled_at<Width * 4>(k + i / 2 * 4 + lane % 4, column / 4) + column % 4 * 4);
    }
    for (int i = 0; i < 4; i++)
        fragment[i] = mma_to_tf32(__uint_as_float(fragment[i]));
}

// sums (64, 64) of a warp += its rows of a (128, 32) times its columns of b (32, 256). The fragments of the next step
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
                mma_m16n8k8_tf32(sums[i][j], rows[now][i], column, sums[i][j]);
            }
    }
}

__device__ static void store_one(const heddle_matmul_shape *shape, float *output, int row, int column, float sum)
{
    if (row >= shape->m || column >= shape->n)
        return;
    float *place = &output[(size_t)row * shape->n + column];
    *place = shape->beta == 0.0f ? shape->alpha * sum : shape->alpha * sum + shape->beta * *place;
}

// a: (m, k) or (k, m), b: (k, n) or (n, k), output: (m, n)
template <int TransposeA, int TransposeB>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_tf32_mma_sync(heddle_matmul_shape shape, const uint32_t *a, const uint32_t *b, float *output, bool vectors_a,
                         bool vectors_b)
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
            swizzled_load<uint32_t, TILE_K, TILE_M, THREADS>(to_a, a, shape.k, shape.m, tile * TILE_K, row, vectors_a);
        else
            swizzled_load<uint32_t, TILE_M, TILE_K, THREADS>(to_a, a, shape.m, shape.k, row, tile * TILE_K, vectors_a);
        if (TransposeB)
            swizzled_load<uint32_t, TILE_N, TILE_K, THREADS>(to_b, b, shape.n, shape.k, column, tile * TILE_K,
                                                             vectors_b);
        else
            swizzled_load<uint32_t, TILE_K, TILE_N, THREADS>(to_b, b, shape.k, shape.n, tile * TILE_K, column,
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
    const uint32_t *a = (const uint32_t *)call->input[0], *b = (const uint32_t *)call->input[1];
    auto kernel = matmul_tf32_mma_sync<TransposeA, TransposeB>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(shape->m, TILE_M) * heddle_ceil_div(shape->n, TILE_N);
    kernel<<<blocks, THREADS, SHARED_BYTES, stream>>>(
        *shape, a, b, (float *)call->output[0],
        swizzled_vectors(a, sizeof *a * (size_t)(TransposeA ? shape->m : shape->k)),
        swizzled_vectors(b, sizeof *b * (size_t)(TransposeB ? shape->k : shape->n)));
}

heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    if (shape->transpose_a)
        shape->transpose_b ? launch_layout<1, 1>(call, stream) : launch_layout<1, 0>(call, stream);
    else
        shape->transpose_b ? launch_layout<0, 1>(call, stream) : launch_layout<0, 0>(call, stream);
    return heddle_cuda_launched("12_tf32_mma_sync");
}

HEDDLE_CUDA_RUNG("matmul_forward", "12_tf32_mma_sync", heddle_matmul_tf32_mma_sync)
