// matmul_fp8, rung 3: fp16 tensor cores, which every card since Ampere has.
//
// Rung 2 was limited by float32 multiplications. fp16 holds every e4m3 number exactly, and mma.sync multiplies 16 by 16
// by 8 of them with one instruction, summed in float32. Tiles stay e4m3 in shared memory, where cp.async puts them two
// ahead of the products, and are converted in registers, in pairs: by one instruction from Ada on, before that by
// moving bits. ldmatrix gives a lane four neighbours of k, where an operand of mma.sync wants two, and two that are 8
// further on. Which k is where does not matter as long as both operands agree: the first two of the four are taken for
// the former, the last two for the latter.
//
// Limited by: the rate of fp16, half of fp8's, and conversions: three for every two mma.sync, because two to four warps
// convert each number again. wgmma takes e4m3 itself.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/swizzled.h"

enum {
    TILE = 128,  // rows of a, and of b, per block
    DEPTH = 128, // numbers of a row in a stage: a swizzled row of bytes
    STAGES = 3,
    TILE_BYTES = TILE * DEPTH,
    SHARED_BYTES = STAGES * 2 * TILE_BYTES,
    THREADS = 256,
    BLOCKS = 2, // per SM: 128 registers per thread, half of them for the sums
    WARP = 32,
    WARPS_DOWN = 2, // warps over the rows of a; the other four over those of b
    WARP_ROWS = TILE / WARPS_DOWN,
    WARP_COLUMNS = TILE / (THREADS / WARP / WARPS_DOWN),
    FRAGMENT = 16, // rows and, in bytes, columns of four matrices of an ldmatrix, two chunks of k side by side
    STEP = 2 * SWIZZLED_CHUNK,
    MMA_N = 8,
    FRAGMENTS_DOWN = WARP_ROWS / FRAGMENT,
    FRAGMENTS_ACROSS = WARP_COLUMNS / FRAGMENT,
};

// Four e4m3 numbers as two pairs of fp16.
__device__ static __forceinline__ void to_halves(uint32_t four, uint32_t *low, uint32_t *high)
{
#if __CUDA_ARCH__ >= 890
    const __half2_raw first = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)four, __NV_E4M3);
    const __half2_raw second = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(four >> 16), __NV_E4M3);
    *low = *(const uint32_t *)&first;
    *high = *(const uint32_t *)&second;
#else
    // Sign, exponent and mantissa move to their places in fp16, where the exponent counts from 15 instead of 7: then
    // all numbers are 256 times too small, subnormal ones, too. Only NaN has all ones, and gets an exponent of all
    // ones.
    uint32_t *const to[] = {low, high};
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        const uint32_t bytes = __byte_perm(four, 0, pair == 0 ? 0x1404 : 0x3424); // in the upper bytes of the halves
        const uint32_t size = bytes >> 1 & 0x3f803f80, nan = (size + 0x00800080) & 0x40004000;
        const uint32_t bits = (bytes & 0x80008000) | size | nan;
        const __half2 value = __hmul2(*(const __half2 *)&bits, __floats2half2_rn(256, 256));
        *to[pair] = *(const uint32_t *)&value;
    }
#endif
}

// 16 rows of a tile, from `first` on, and 32 of k, as fp16: halves[c][i] is of the c-th 16 of k, and of rows 8 further
// on where i is odd, and of the later half of k where i is 2 or 3.
__device__ static __forceinline__ void load_fragment(uint32_t (&halves)[2][4], const unsigned char *tile, int first,
                                                     int step)
{
    const int lane = threadIdx.x % WARP, row = first + lane % FRAGMENT, chunk = step * 2 + lane / FRAGMENT;
    uint32_t bytes[4];
    ldmatrix_x4(bytes, tile + swizzled_at<DEPTH>(row, chunk));
#pragma unroll
    for (int i = 0; i < 4; i++)
        to_halves(bytes[i], &halves[i / 2][i % 2], &halves[i / 2][i % 2 + 2]);
}

// One stage's products: (WARP_ROWS, DEPTH) of a by (WARP_COLUMNS, DEPTH) of b.
__device__ static __forceinline__ void multiply(float (&sum)[FRAGMENTS_DOWN][2 * FRAGMENTS_ACROSS][4],
                                                const unsigned char *tile_a, const unsigned char *tile_b, int first_row,
                                                int first_column)
{
#pragma unroll
    for (int step = 0; step < DEPTH / STEP; step++) {
        uint32_t b[FRAGMENTS_ACROSS][2][4];
#pragma unroll
        for (int j = 0; j < FRAGMENTS_ACROSS; j++)
            load_fragment(b[j], tile_b, first_column + j * FRAGMENT, step);
#pragma unroll
        for (int i = 0; i < FRAGMENTS_DOWN; i++) {
            uint32_t a[2][4];
            load_fragment(a, tile_a, first_row + i * FRAGMENT, step);
#pragma unroll
            for (int j = 0; j < 2 * FRAGMENTS_ACROSS; j++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    const uint32_t column[2] = {b[j / 2][c][j % 2], b[j / 2][c][j % 2 + 2]};
                    mma_m16n8k16_half(sum[i][j], a[c], column, sum[i][j]);
                }
        }
    }
}

// A lane has two neighbours of row lane / 4, and two of the row eight below.
__device__ static __forceinline__ void store(const float (&sum)[FRAGMENTS_DOWN][2 * FRAGMENTS_ACROSS][4],
                                             const heddle_matmul_fp8_shape *shape, float scale, __nv_bfloat16 *output,
                                             int first_row, int first_column)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < FRAGMENTS_DOWN; i++)
#pragma unroll
        for (int j = 0; j < 2 * FRAGMENTS_ACROSS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int row = first_row + i * FRAGMENT + lane / 4 + e / 2 * 8;
                const int column = first_column + j * MMA_N + lane % 4 * 2 + e % 2;
                if (row < shape->m && column < shape->n)
                    output[(size_t)row * shape->n + column] = __float2bfloat16(scale * sum[i][j][e]);
            }
}

// a: (m, k), b: (n, k), output: (m, n); `vectors_a`, `vectors_b`: rows start at 16 bytes
__global__ void __launch_bounds__(THREADS, BLOCKS)
    matmul_fp8_half_mma(heddle_matmul_fp8_shape shape, const uint8_t *a, const uint8_t *b, const float *scale_a,
                        const float *scale_b, __nv_bfloat16 *output, bool vectors_a, bool vectors_b)
{
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned char *tiles_a = shared, *tiles_b = shared + STAGES * TILE_BYTES;
    const int across = (shape.n - 1) / TILE + 1, steps = (shape.k + DEPTH - 1) / DEPTH;
    const int first_i = blockIdx.x / across * TILE, first_j = blockIdx.x % across * TILE;
    const int warp = threadIdx.x / WARP;
    const int warp_row = warp % WARPS_DOWN * WARP_ROWS, warp_column = warp / WARPS_DOWN * WARP_COLUMNS;
    auto load = [&](int step) {
        const int at = step % STAGES * TILE_BYTES;
        swizzled_load<uint8_t, TILE, DEPTH, THREADS>(tiles_a + at, a, shape.m, shape.k, first_i, step * DEPTH,
                                                     vectors_a);
        swizzled_load<uint8_t, TILE, DEPTH, THREADS>(tiles_b + at, b, shape.n, shape.k, first_j, step * DEPTH,
                                                     vectors_b);
    };

    float sum[FRAGMENTS_DOWN][2 * FRAGMENTS_ACROSS][4] = {};
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            load(step);
        cp_async_commit(); // empty groups too: the number of groups tells which stage is complete
    }
    for (int step = 0; step < steps; step++) {
        cp_async_wait_group<STAGES - 2>();
        __syncthreads(); // all copies have arrived, and all warps have left the stage that is loaded next
        if (step + STAGES - 1 < steps)
            load(step + STAGES - 1);
        cp_async_commit();
        const int at = step % STAGES * TILE_BYTES;
        multiply(sum, tiles_a + at, tiles_b + at, warp_row, warp_column);
    }
    store(sum, &shape, *scale_a * *scale_b, output, first_i + warp_row, first_j + warp_column);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_fp8_shape *shape = (const heddle_matmul_fp8_shape *)call->shape;
    const uint8_t *a = (const uint8_t *)call->input[0], *b = (const uint8_t *)call->input[1];
    const unsigned blocks = heddle_ceil_div(shape->m, TILE) * heddle_ceil_div(shape->n, TILE);
    cudaFuncSetAttribute(matmul_fp8_half_mma, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    if (blocks > 0)
        matmul_fp8_half_mma<<<blocks, THREADS, SHARED_BYTES, heddle_cuda_stream_of(call)>>>(
            *shape, a, b, (const float *)call->input[2], (const float *)call->input[3],
            (__nv_bfloat16 *)call->output[0], swizzled_vectors(a, (size_t)shape->k),
            swizzled_vectors(b, (size_t)shape->k));
    return heddle_cuda_launched("03_half_mma");
}

HEDDLE_CUDA_RUNG("matmul_fp8", "03_half_mma", launch)
