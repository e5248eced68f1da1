// The product of product.h on tensor cores: factors rounded to tf32, sums in float32. Every warp multiplies 64 pixels
// by 32 filters, as 4 by 4 products of 16 by 8. At the end the sums go through shared memory, so that each thread has
// the same 8 pixels by 8 filters as in product.h, and both share one epilogue.
//
// Pixels have the same layout in shared memory as in the image, 8 adjacent channels: copied asynchronously, bypassing
// registers. Three steps of 8 channels are loaded at a time (9 taps of any number of steps are a multiple of three),
// while the three before are multiplied.
#pragma once

#include "ops/conv_block/product.h"
#include "ops/cuda/mma.h"

enum {
    CONV_BLOCK_STEPS = 3,         // per stage
    CONV_BLOCK_PIXEL_PITCH = 12,  // floats from pixel to pixel: 8 of them by 4 channels hit 32 banks
    CONV_BLOCK_PAD = 8,           // of a row of weights: 4 of them by 8 filters hit 32 banks
    CONV_BLOCK_WARP_PIXELS = 64,  // per warp, 4 products of 16
    CONV_BLOCK_WARP_FILTERS = 32, // 4 of 8
    CONV_BLOCK_PRODUCTS = 4,      // in each direction
    CONV_BLOCK_SUM_PAD = 4,       // of a row of sums in transit to other threads
};

template <int filters> struct conv_block_stage {
    static const int pixels = conv_block_tile<filters>::pixels;
    float window[CONV_BLOCK_STEPS][pixels][CONV_BLOCK_PIXEL_PITCH];
    float weight[CONV_BLOCK_STEPS][CONV_BLOCK_DEPTH][filters + CONV_BLOCK_PAD];
};

template <int filters> static inline size_t conv_block_tf32_bytes(void)
{
    size_t stages = 2 * sizeof(conv_block_stage<filters>);
    size_t sums = sizeof(float) * filters * (conv_block_tile<filters>::pixels + CONV_BLOCK_SUM_PAD);
    return stages > sums ? stages : sums;
}

template <bool aligned> __device__ static inline void conv_block_copy4(float *to, const float *from)
{
    if (aligned) {
        cp_async_16(to, from);
    } else {
#pragma unroll
        for (int i = 0; i < HEDDLE_VECTOR; i++)
            cp_async_4(to + i, from + i);
    }
}

// Starts the copies of a stage; whatever lies outside the image is 0.
template <int filters, bool aligned>
__device__ static inline void conv_block_fetch(const conv_block_source &source, int columns,
                                               const conv_block_pixel pixel[conv_block_tile<filters>::gathered],
                                               conv_block_cursor &cursor, conv_block_stage<filters> &stage)
{
    typedef conv_block_tile<filters> type;
    const int vectors = filters / HEDDLE_VECTOR;
#pragma unroll
    for (int step = 0; step < CONV_BLOCK_STEPS; step++) {
        int shift = ((cursor.tap / 3 - 1) * source.w + cursor.tap % 3 - 1) * source.channels + cursor.channel;
#pragma unroll
        for (int g = 0; g < type::gathered; g++) {
            float *to = stage.window[step][threadIdx.x + g * CONV_BLOCK_THREADS];
#pragma unroll
            for (int v = 0; v < CONV_BLOCK_VECTORS; v++)
                if (pixel[g].bits >> cursor.tap & 1)
                    conv_block_copy4<aligned>(to + v * HEDDLE_VECTOR, pixel[g].from + shift + v * HEDDLE_VECTOR);
                else
                    *(float4 *)(to + v * HEDDLE_VECTOR) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        if (type::weights == CONV_BLOCK_THREADS || threadIdx.x < type::weights)
            cp_async_16(&stage.weight[step][threadIdx.x / vectors][threadIdx.x % vectors * HEDDLE_VECTOR],
                        cursor.weight);
        cursor.weight += (size_t)CONV_BLOCK_DEPTH * columns;
        cursor.channel += CONV_BLOCK_DEPTH;
        if (cursor.channel == source.channels) {
            cursor.channel = 0;
            cursor.tap++;
        }
    }
}

// First pixel and filter of this warp in the tile.
template <int filters> __device__ static inline int conv_block_warp_pixel(void)
{
    return threadIdx.x / 32 / (filters / CONV_BLOCK_WARP_FILTERS) * CONV_BLOCK_WARP_PIXELS;
}

template <int filters> __device__ static inline int conv_block_warp_filter(void)
{
    return threadIdx.x / 32 % (filters / CONV_BLOCK_WARP_FILTERS) * CONV_BLOCK_WARP_FILTERS;
}

typedef float conv_block_fragments[CONV_BLOCK_PRODUCTS][CONV_BLOCK_PRODUCTS][4];

template <int filters>
__device__ static inline void conv_block_multiply_tf32(const conv_block_stage<filters> &stage, conv_block_fragments sum)
{
    int lane = threadIdx.x % 32, row = lane / 4, deep = lane % 4;
    int pixel = conv_block_warp_pixel<filters>() + row, filter = conv_block_warp_filter<filters>() + row;
#pragma unroll
    for (int step = 0; step < CONV_BLOCK_STEPS; step++) {
        uint32_t a[CONV_BLOCK_PRODUCTS][4], b[CONV_BLOCK_PRODUCTS][2];
#pragma unroll
        for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) // pixels lane / 4 and 8 further on, channels lane % 4 and 4 further on
                a[i][j] = mma_to_tf32(stage.window[step][pixel + i * 16 + j % 2 * 8][deep + j / 2 * 4]);
#pragma unroll
        for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++)
#pragma unroll
            for (int j = 0; j < 2; j++) // the weight is packed rounded
                b[i][j] = __float_as_uint(stage.weight[step][deep + j * 4][filter + i * 8]);
#pragma unroll
        for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++)
#pragma unroll
            for (int j = 0; j < CONV_BLOCK_PRODUCTS; j++)
                mma_m16n8k8_tf32(sum[i][j], a[i], b[j], sum[i][j]);
    }
}

// From the fragments of tensor cores to 8 pixels by 8 filters per thread. sums: (filters, pixels), padded
template <int filters>
__device__ static inline void conv_block_spread(const conv_block_fragments fragments, float *sums,
                                                float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    const int pitch = conv_block_tile<filters>::pixels + CONV_BLOCK_SUM_PAD;
    int lane = threadIdx.x % 32;
    int pixel = conv_block_warp_pixel<filters>() + lane / 4, filter = conv_block_warp_filter<filters>() + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++)
#pragma unroll
        for (int j = 0; j < CONV_BLOCK_PRODUCTS; j++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                sums[(filter + j * 8 + r % 2) * pitch + pixel + i * 16 + r / 2 * 8] = fragments[i][j][r];
    __syncthreads();
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float *from = &sums[conv_block_tile_filter<filters>(f) * pitch +
                                      conv_block_tile_pixel<filters>(half * CONV_BLOCK_RUN)];
            float4 four = *(const float4 *)from;
            sum[f][half * CONV_BLOCK_RUN] = four.x, sum[f][half * CONV_BLOCK_RUN + 1] = four.y;
            sum[f][half * CONV_BLOCK_RUN + 2] = four.z, sum[f][half * CONV_BLOCK_RUN + 3] = four.w;
        }
}

// As conv_block_product. shared: conv_block_tf32_bytes
template <int filters, bool aligned, bool windows>
__device__ static inline void conv_block_product_tf32(const conv_block_source &source, int columns, const float *packed,
                                                      void *shared, float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    typedef conv_block_tile<filters> type;
    conv_block_stage<filters> *stage = (conv_block_stage<filters> *)shared;
    conv_block_pixel pixel[type::gathered];
    conv_block_find_pixels<filters, windows>(source, pixel);
    conv_block_cursor cursor = conv_block_start<filters>(columns, packed);
    conv_block_fragments fragments = {};
    int stages = CONV_BLOCK_TAPS / CONV_BLOCK_STEPS * (source.channels / CONV_BLOCK_DEPTH);
    conv_block_fetch<filters, aligned>(source, columns, pixel, cursor, stage[0]);
    for (int at = 0; at < stages; at++) {
        cp_async_wait_all();
        __syncthreads(); // this stage has arrived, and the other is no longer read
        if (at + 1 < stages)
            conv_block_fetch<filters, aligned>(source, columns, pixel, cursor, stage[(at + 1) % 2]);
        conv_block_multiply_tf32<filters>(stage[at % 2], fragments);
    }
    __syncthreads();
    conv_block_spread<filters>(fragments, (float *)shared, sum);
}

// --- either arithmetic ----------------------------------------------------------------------------------------------

// The block's tile in float32 or, tf32, on tensor cores. Afterwards all threads may reuse `shared`, of
// conv_block_product_bytes. by_tap: see conv_block_product.
template <bool tf32, int filters, bool aligned, bool windows, bool by_tap = false>
__device__ static inline void conv_block_any_product(const conv_block_source &source, int columns, const float *packed,
                                                     void *shared, float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    if (tf32)
        conv_block_product_tf32<filters, aligned, windows>(source, columns, packed, shared, sum);
    else
        conv_block_product<filters, aligned, windows, by_tap>(source, columns, packed,
                                                              (conv_block_tile<filters> *)shared, sum);
    __syncthreads();
}

template <bool tf32, int filters> static inline size_t conv_block_product_bytes(void)
{
    return tf32 ? conv_block_tf32_bytes<filters>() : 2 * sizeof(conv_block_tile<filters>);
}

// Blocks of a kernel per SM: float32 needs more than the 128 registers per thread that four would leave, tensor cores
// more shared memory than three would.
template <bool tf32> __host__ __device__ constexpr int conv_block_resident(void)
{
    return tf32 ? 2 : 3;
}
