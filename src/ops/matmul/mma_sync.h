// The kernel of matmul's rung 12_tf32_mma_sync, linear's 03_tf32_mma_sync and matmul_bf16's 03_mma_sync: mma.sync on
// tiles that cp.async loads while others are multiplied. `Element` is the type of the operands: float, rounded to tf32
// in registers, or __nv_bfloat16.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/swizzled.h"
#include "ops/matmul/element.h"

enum {
    TILE_M = 128,
    TILE_N = 256,
    STAGES = 3, // 48 KiB each: they fit on an SM of Ampere, too
    WARPS_M = 2,
    WARPS_N = 4,
    WARP_M = TILE_M / WARPS_M,
    WARP_N = TILE_N / WARPS_N,
    THREADS = WARPS_M * WARPS_N * 32,
    MMA_M = 16,
    MMA_N = 8,
    BLOCKS_M = WARP_M / MMA_M, // mma tiles per warp
    BLOCKS_N = WARP_N / MMA_N,
    ROW_BYTES = 128, // k per tile: a swizzled row
    A_BYTES = TILE_M * ROW_BYTES,
    B_BYTES = TILE_N * ROW_BYTES,
    SHARED_BYTES = STAGES * (A_BYTES + B_BYTES),
};

template <typename Element> struct mma_operand;
template <> struct mma_operand<float> {
    typedef uint32_t bits;
    enum { TILE_K = ROW_BYTES / 4, MMA_K = 8 };
};
template <> struct mma_operand<__nv_bfloat16> {
    typedef uint16_t bits;
    enum { TILE_K = ROW_BYTES / 2, MMA_K = 16 };
};

// A fragment of 16 rows and 32 bytes of k at (first, k) of a tile stored (first, k) or, if Transposed, (k, Width). Its
// four matrices of 8 rows and 16 bytes come in the order (0, 0), (8, 0), (0, half), (8, half) of (first, k). ldmatrix
// takes lane i's address as row i; to it, four floats are a row of eight 16-bit elements.
template <int Transposed, int Width>
__device__ static void load_fragment(__nv_bfloat16, uint32_t (&fragment)[4], const unsigned char *tile, int first,
                                     int k)
{
    int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    if (Transposed)
        ldmatrix_x4_transposed(fragment,
                               tile + swizzled_at<Width * 2>(k + matrix / 2 * 8 + row, first / 8 + matrix % 2));
    else
        ldmatrix_x4(fragment, tile + swizzled_at<ROW_BYTES>(first + matrix % 2 * 8 + row, k / 8 + matrix / 2));
}

// ldmatrix transposes 16-bit elements only. For floats stored the other way round each lane loads its own.
template <int Transposed, int Width>
__device__ static void load_fragment(float, uint32_t (&fragment)[4], const unsigned char *tile, int first, int k)
{
    int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    if (!Transposed)
        ldmatrix_x4(fragment, tile + swizzled_at<ROW_BYTES>(first + matrix % 2 * 8 + row, k / 4 + matrix / 2));
    for (int i = 0; Transposed && i < 4; i++) {
        int column = first + i % 2 * 8 + lane / 4;
        fragment[i] =
            *(const uint32_t *)(tile + swizzled_at<Width * 4>(k + i / 2 * 4 + lane % 4, column / 4) + column % 4 * 4);
    }
    for (int i = 0; i < 4; i++)
        fragment[i] = mma_to_tf32(__uint_as_float(fragment[i]));
}

__device__ static void product(float, float (&sum)[4], const uint32_t (&row)[4], const uint32_t (&column)[2])
{
    mma_m16n8k8_tf32(sum, row, column, sum);
}
__device__ static void product(__nv_bfloat16, float (&sum)[4], const uint32_t (&row)[4], const uint32_t (&column)[2])
{
    mma_m16n8k16_bfloat16(sum, row, column, sum);
}

// sums (64, 64) of a warp += its rows of a (128, K) times its columns of b (K, 256). The fragments of the next step are
// loaded while those of this one are multiplied.
template <typename Element, int TransposeA, int TransposeB>
__device__ static void multiply(float (&sums)[BLOCKS_M][BLOCKS_N][4], const unsigned char *a, const unsigned char *b,
                                int warp_m, int warp_n)
{
    const int K = mma_operand<Element>::TILE_K, STEP = mma_operand<Element>::MMA_K;
    uint32_t rows[2][BLOCKS_M][4], columns[2][BLOCKS_N / 2][4];
#pragma unroll
    for (int step = -1; step < K / STEP; step++) {
        const int now = step & 1, next = now ^ 1, k = (step + 1) * STEP;
#pragma unroll
        for (int i = 0; k < K && i < BLOCKS_M; i++)
            load_fragment<TransposeA, TILE_M>(Element(), rows[next][i], a, warp_m * WARP_M + i * MMA_M, k);
#pragma unroll
        for (int j = 0; k < K && j < BLOCKS_N / 2; j++)
            load_fragment<!TransposeB, TILE_N>(Element(), columns[next][j], b, warp_n * WARP_N + j * 2 * MMA_N, k);
#pragma unroll
        for (int i = 0; step >= 0 && i < BLOCKS_M; i++)
#pragma unroll
            for (int j = 0; j < BLOCKS_N; j++) {
                const uint32_t column[2] = {columns[now][j / 2][j % 2], columns[now][j / 2][j % 2 + 2]};
                product(Element(), sums[i][j], rows[now][i], column);
            }
    }
}

template <typename Element>
__device__ static void store_one(const heddle_matmul_shape *shape, const Element *bias, Element *output, int row,
                                 int column, float sum)
{
    if (row >= shape->m || column >= shape->n)
        return;
    Element *place = &output[(size_t)row * shape->n + column];
    float value = shape->alpha * sum + (bias ? matmul_float(bias[column]) : 0);
    *place = matmul_element<Element>(shape->beta == 0.0f ? value : value + shape->beta * matmul_float(*place));
}

// output = alpha * a * b + beta * output + bias (n), which may be NULL. a: (m, k) or (k, m), b: (k, n) or (n, k),
// output: (m, n); `vectors_a`, `vectors_b`: rows start at 16 bytes
template <typename Element, int TransposeA, int TransposeB>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_mma_sync(heddle_matmul_shape shape, const typename mma_operand<Element>::bits *a,
                    const typename mma_operand<Element>::bits *b, const Element *bias, Element *output, bool vectors_a,
                    bool vectors_b)
{
    typedef typename mma_operand<Element>::bits bits;
    const int K = mma_operand<Element>::TILE_K;
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned char *tiles_a = shared, *tiles_b = shared + STAGES * A_BYTES;
    const int across = (shape.n - 1) / TILE_N + 1; // tiles per row of tiles
    const int row = blockIdx.x / across * TILE_M, column = blockIdx.x % across * TILE_N;
    const int warp_m = threadIdx.x / 32 / WARPS_N, warp_n = threadIdx.x / 32 % WARPS_N;
    const int tiles = (shape.k + K - 1) / K;
    auto load = [&](int tile) {
        unsigned char *to_a = tiles_a + tile % STAGES * A_BYTES, *to_b = tiles_b + tile % STAGES * B_BYTES;
        if (TransposeA)
            swizzled_load<bits, K, TILE_M, THREADS>(to_a, a, shape.k, shape.m, tile * K, row, vectors_a);
        else
            swizzled_load<bits, TILE_M, K, THREADS>(to_a, a, shape.m, shape.k, row, tile * K, vectors_a);
        if (TransposeB)
            swizzled_load<bits, TILE_N, K, THREADS>(to_b, b, shape.n, shape.k, column, tile * K, vectors_b);
        else
            swizzled_load<bits, K, TILE_N, THREADS>(to_b, b, shape.k, shape.n, tile * K, column, vectors_b);
    };
    float sums[BLOCKS_M][BLOCKS_N][4] = {};
    for (int tile = 0; tile < STAGES - 1; tile++) {
        if (tile < tiles)
            load(tile);
        cp_async_commit();
    }
    for (int tile = 0; tile < tiles; tile++) {
        cp_async_wait_group<STAGES - 2>();
        // After this barrier the tile has arrived for all threads, and none reads the one before: its stage can be
        // filled once the tensor cores have work.
        __syncthreads();
        multiply<Element, TransposeA, TransposeB>(sums, tiles_a + tile % STAGES * A_BYTES,
                                                  tiles_b + tile % STAGES * B_BYTES, warp_m, warp_n);
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
                store_one(&shape, bias, output, row + warp_m * WARP_M + i * MMA_M + e / 2 * 8 + lane / 4,
                          column + warp_n * WARP_N + j * MMA_N + lane % 4 * 2 + e % 2, sums[i][j][e]);
}

// The product of the call's first two inputs, to its first output.
template <typename Element, int TransposeA, int TransposeB>
static void launch_layout(const heddle_call *call, const heddle_matmul_shape *shape, const Element *bias)
{
    typedef typename mma_operand<Element>::bits bits;
    const bits *a = (const bits *)call->input[0], *b = (const bits *)call->input[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto kernel = matmul_mma_sync<Element, TransposeA, TransposeB>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(shape->m, TILE_M) * heddle_ceil_div(shape->n, TILE_N);
    kernel<<<blocks, THREADS, SHARED_BYTES, stream>>>(
        *shape, a, b, bias, (Element *)call->output[0],
        swizzled_vectors(a, sizeof *a * (size_t)(TransposeA ? shape->m : shape->k)),
        swizzled_vectors(b, sizeof *b * (size_t)(TransposeB ? shape->k : shape->n)));
}

template <typename Element> static heddle_status matmul_mma_sync_launch(const heddle_call *call, const char *rung)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    if (shape->transpose_a)
        shape->transpose_b ? launch_layout<Element, 1, 1>(call, shape, NULL)
                           : launch_layout<Element, 1, 0>(call, shape, NULL);
    else
        shape->transpose_b ? launch_layout<Element, 0, 1>(call, shape, NULL)
                           : launch_layout<Element, 0, 0>(call, shape, NULL);
    return heddle_cuda_launched(rung);
}
