// The gradient of conv_block's weight: a product with a sum over all pixels, in float32 or on tensor cores. A block has
// a tile of 64 filters by 96 columns (tap, channel) and a part of the pixels; a second pass adds the parts in order.
#pragma once

#include "ops/conv_block/product_tf32.h"

enum {
    CONV_BLOCK_GRADIENT_ACROSS = CONV_BLOCK_GRADIENT_COLUMNS / CONV_BLOCK_TILE, // threads along the columns
    CONV_BLOCK_GRADIENT_THREADS = CONV_BLOCK_GRADIENT_ACROSS * CONV_BLOCK_GRADIENT_FILTERS / CONV_BLOCK_TILE, // 96
    CONV_BLOCK_GRADIENT_PIXELS = 12, // per step: whole vectors for every thread
    CONV_BLOCK_FILTER_LOADS =
        CONV_BLOCK_GRADIENT_PIXELS * CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR / CONV_BLOCK_GRADIENT_THREADS, // 2
    CONV_BLOCK_COLUMN_LOADS =
        CONV_BLOCK_GRADIENT_PIXELS * CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR / CONV_BLOCK_GRADIENT_THREADS, // 3
    CONV_BLOCK_FILTER_STEP =
        CONV_BLOCK_GRADIENT_THREADS / (CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR), // pixels between two loads
    CONV_BLOCK_COLUMN_STEP = CONV_BLOCK_GRADIENT_THREADS / (CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR),
};
static_assert(CONV_BLOCK_FILTER_LOADS * CONV_BLOCK_FILTER_STEP == CONV_BLOCK_GRADIENT_PIXELS &&
                  CONV_BLOCK_COLUMN_LOADS * CONV_BLOCK_COLUMN_STEP == CONV_BLOCK_GRADIENT_PIXELS,
              "loads cover a step");

typedef struct conv_block_gradient_tiles {
    float gradient[CONV_BLOCK_GRADIENT_PIXELS][CONV_BLOCK_GRADIENT_FILTERS];
    float window[CONV_BLOCK_GRADIENT_PIXELS][CONV_BLOCK_GRADIENT_COLUMNS];
} conv_block_gradient_tiles;

// This thread's column: a tap of 4 channels, and its place relative to the pixel.
typedef struct conv_block_column_place {
    int row, column; // of the tap, from -1 to 1
    long long shift; // in floats
    bool inside;
} conv_block_column_place;

// A pixel that this thread loads, and where it is in its image.
typedef struct conv_block_pixel_place {
    int y, x;
} conv_block_pixel_place;

__device__ static inline void conv_block_advance(const conv_block_source &source, int pixels,
                                                 conv_block_pixel_place &place)
{
    place.x += pixels;
    while (place.x >= source.w) {
        place.x -= source.w;
        if (++place.y == source.h)
            place.y = 0;
    }
}

__device__ static inline conv_block_column_place conv_block_find_column(const conv_block_source &source)
{
    int column = blockIdx.x * CONV_BLOCK_GRADIENT_COLUMNS +
                 threadIdx.x % (CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR) * HEDDLE_VECTOR;
    int tap = column / source.channels;
    conv_block_column_place place;
    place.inside = tap < CONV_BLOCK_TAPS;
    place.row = tap / 3 - 1;
    place.column = tap % 3 - 1;
    place.shift = ((long long)place.row * source.w + place.column) * source.channels + column % source.channels;
    return place;
}

__device__ static inline void conv_block_multiply_gradient(const conv_block_gradient_tiles &tile,
                                                           float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    int column = threadIdx.x % CONV_BLOCK_GRADIENT_ACROSS * CONV_BLOCK_RUN,
        filter = threadIdx.x / CONV_BLOCK_GRADIENT_ACROSS * CONV_BLOCK_RUN;
#pragma unroll
    for (int d = 0; d < CONV_BLOCK_GRADIENT_PIXELS; d++) {
        float __align__(16) columns[CONV_BLOCK_TILE];
        float __align__(16) filters[CONV_BLOCK_TILE];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            *(float4 *)&columns[half * CONV_BLOCK_RUN] =
                *(const float4 *)&tile.window[d][half * CONV_BLOCK_GRADIENT_COLUMNS / 2 + column];
            *(float4 *)&filters[half * CONV_BLOCK_RUN] =
                *(const float4 *)&tile.gradient[d][half * CONV_BLOCK_GRADIENT_FILTERS / 2 + filter];
        }
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
            for (int c = 0; c < CONV_BLOCK_TILE; c++)
                sum[f][c] += filters[f] * columns[c];
    }
}

// part: (k, columns)
__device__ static inline void conv_block_store_part(int k, int columns,
                                                    const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE], float *part)
{
    int column = blockIdx.x * CONV_BLOCK_GRADIENT_COLUMNS + threadIdx.x % CONV_BLOCK_GRADIENT_ACROSS * CONV_BLOCK_RUN;
    int filter = blockIdx.y * CONV_BLOCK_GRADIENT_FILTERS + threadIdx.x / CONV_BLOCK_GRADIENT_ACROSS * CONV_BLOCK_RUN;
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = filter + f / CONV_BLOCK_RUN * (CONV_BLOCK_GRADIENT_FILTERS / 2) + f % CONV_BLOCK_RUN,
                at = column + half * CONV_BLOCK_GRADIENT_COLUMNS / 2;
            const float *four = &sum[f][half * CONV_BLOCK_RUN];
            if (row < k && at < columns)
                *(float4 *)&part[(size_t)row * columns + at] = make_float4(four[0], four[1], four[2], four[3]);
        }
}

// source: the input, gradient: (pixels, padded), parts: (gridDim.z, k, columns). A block: `pixels` of a tile.
template <bool aligned>
static __global__ void __launch_bounds__(CONV_BLOCK_GRADIENT_THREADS, CONV_BLOCK_GRADIENT_RESIDENT)
    conv_block_weight_gradient_parts(conv_block_source source, size_t pixels, int k, int padded, const float *gradient,
                                     float *parts)
{
    __shared__ __align__(16) conv_block_gradient_tiles tile[2];
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    size_t first = blockIdx.z * pixels, all = (size_t)source.images * source.h * source.w;
    int left = first < all ? (int)min(pixels, all - first) : 0,
        steps = (left + CONV_BLOCK_GRADIENT_PIXELS - 1) / CONV_BLOCK_GRADIENT_PIXELS;
    int filter = threadIdx.x % (CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR) * HEDDLE_VECTOR,
        row = threadIdx.x / (CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR);
    int column = threadIdx.x % (CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR) * HEDDLE_VECTOR,
        line = threadIdx.x / (CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR);
    bool filter_inside = blockIdx.y * CONV_BLOCK_GRADIENT_FILTERS + filter < (unsigned)padded;
    conv_block_column_place place = conv_block_find_column(source);
    const float *from_gradient = gradient + (first + row) * padded + blockIdx.y * CONV_BLOCK_GRADIENT_FILTERS + filter;
    const float *from_window = source.data + (long long)((first + line) * source.channels) + place.shift;
    conv_block_pixel_place pixel = {(int)((first + line) / source.w % source.h), (int)((first + line) % source.w)};

    float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {};
    float4 filters[CONV_BLOCK_FILTER_LOADS], columns[CONV_BLOCK_COLUMN_LOADS];
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < CONV_BLOCK_FILTER_LOADS; i++, from_gradient += (size_t)CONV_BLOCK_FILTER_STEP * padded)
                filters[i] =
                    filter_inside && row + i * CONV_BLOCK_FILTER_STEP < left ? *(const float4 *)from_gradient : zero;
#pragma unroll
            for (int i = 0; i < CONV_BLOCK_COLUMN_LOADS;
                 i++, from_window += (size_t)CONV_BLOCK_COLUMN_STEP * source.channels) {
                int y = pixel.y + place.row, x = pixel.x + place.column;
                bool inside = place.inside && line + i * CONV_BLOCK_COLUMN_STEP < left && y >= 0 && y < source.h &&
                              x >= 0 && x < source.w;
                columns[i] = inside ? heddle_load4<aligned>(from_window) : zero;
                conv_block_advance(source, CONV_BLOCK_COLUMN_STEP, pixel);
            }
            left -= CONV_BLOCK_GRADIENT_PIXELS;
        }
        if (step > 0)
            conv_block_multiply_gradient(tile[(step - 1) % 2], sum);
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < CONV_BLOCK_FILTER_LOADS; i++)
                *(float4 *)&tile[step % 2].gradient[row + i * CONV_BLOCK_FILTER_STEP][filter] = filters[i];
#pragma unroll
            for (int i = 0; i < CONV_BLOCK_COLUMN_LOADS; i++)
                *(float4 *)&tile[step % 2].window[line + i * CONV_BLOCK_COLUMN_STEP][column] = columns[i];
        }
        __syncthreads();
    }
    int width = CONV_BLOCK_TAPS * source.channels;
    conv_block_store_part(k, width, sum, parts + blockIdx.z * ((size_t)k * width));
}

// --- the same on tensor cores ----------------------------------------------------------------------------------------

enum {
    CONV_BLOCK_TF32_PIXELS = 24, // per stage: three products deep, whole vectors for every thread
    CONV_BLOCK_TF32_FILTER_LOADS = CONV_BLOCK_TF32_PIXELS / CONV_BLOCK_FILTER_STEP, // 4
    CONV_BLOCK_TF32_COLUMN_LOADS = CONV_BLOCK_TF32_PIXELS / CONV_BLOCK_COLUMN_STEP, // 6
    CONV_BLOCK_TF32_PAD = 8, // of a row: 4 pixels by 8 filters or columns hit 32 banks
};

// Both factors as they lie in memory, copied bypassing registers.
typedef struct conv_block_tf32_tiles {
    float gradient[CONV_BLOCK_TF32_PIXELS][CONV_BLOCK_GRADIENT_FILTERS + CONV_BLOCK_TF32_PAD];
    float window[CONV_BLOCK_TF32_PIXELS][CONV_BLOCK_GRADIENT_COLUMNS + CONV_BLOCK_TF32_PAD];
} conv_block_tf32_tiles;

// A warp: 64 filters by 32 columns.
__device__ static inline void conv_block_multiply_gradient_tf32(const conv_block_tf32_tiles &tile,
                                                                conv_block_fragments sum)
{
    int lane = threadIdx.x % 32, deep = lane % 4, row = lane / 4;
    int column = threadIdx.x / 32 * CONV_BLOCK_WARP_FILTERS + row;
#pragma unroll
    for (int d = 0; d < CONV_BLOCK_TF32_PIXELS; d += 8) {
        uint32_t a[CONV_BLOCK_PRODUCTS][4], b[CONV_BLOCK_PRODUCTS][2];
#pragma unroll
        for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                a[i][j] = mma_to_tf32(tile.gradient[d + deep + j / 2 * 4][row + i * 16 + j % 2 * 8]);
#pragma unroll
            for (int j = 0; j < 2; j++)
                b[i][j] = mma_to_tf32(tile.window[d + deep + j * 4][column + i * 8]);
        }
#pragma unroll
        for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++)
#pragma unroll
            for (int j = 0; j < CONV_BLOCK_PRODUCTS; j++)
                mma_m16n8k8_tf32(sum[i][j], a[i], b[j], sum[i][j]);
    }
}

__device__ static inline void conv_block_store_part_tf32(int k, int columns, const conv_block_fragments sum,
                                                         float *part)
{
    int lane = threadIdx.x % 32, filter = blockIdx.y * CONV_BLOCK_GRADIENT_FILTERS + lane / 4;
    int column = blockIdx.x * CONV_BLOCK_GRADIENT_COLUMNS + threadIdx.x / 32 * CONV_BLOCK_WARP_FILTERS + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < CONV_BLOCK_PRODUCTS; i++)
#pragma unroll
        for (int j = 0; j < CONV_BLOCK_PRODUCTS; j++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int row = filter + i * 16 + half * 8, at = column + j * 8;
                if (row < k && at < columns)
                    *(float2 *)&part[(size_t)row * columns + at] =
                        make_float2(sum[i][j][half * 2], sum[i][j][half * 2 + 1]);
            }
}

// Starts the copies of a stage, with `left` pixels still to come; moves on to the next.
template <bool aligned>
__device__ static inline void conv_block_fetch_gradient(const conv_block_source &source, int padded, int left,
                                                        bool filter_inside, const conv_block_column_place &place,
                                                        const float *&from_gradient, const float *&from_window,
                                                        conv_block_pixel_place &pixel, conv_block_tf32_tiles &tile)
{
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const int filters = CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR,
              columns = CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR;
    int row = threadIdx.x / filters, line = threadIdx.x / columns;
#pragma unroll
    for (int i = 0; i < CONV_BLOCK_TF32_FILTER_LOADS; i++, from_gradient += (size_t)CONV_BLOCK_FILTER_STEP * padded) {
        float *to = &tile.gradient[row + i * CONV_BLOCK_FILTER_STEP][threadIdx.x % filters * HEDDLE_VECTOR];
        if (filter_inside && row + i * CONV_BLOCK_FILTER_STEP < left)
            cp_async_16(to, from_gradient);
        else
            *(float4 *)to = zero;
    }
#pragma unroll
    for (int i = 0; i < CONV_BLOCK_TF32_COLUMN_LOADS;
         i++, from_window += (size_t)CONV_BLOCK_COLUMN_STEP * source.channels) {
        float *to = &tile.window[line + i * CONV_BLOCK_COLUMN_STEP][threadIdx.x % columns * HEDDLE_VECTOR];
        int y = pixel.y + place.row, x = pixel.x + place.column;
        if (place.inside && line + i * CONV_BLOCK_COLUMN_STEP < left && y >= 0 && y < source.h && x >= 0 &&
            x < source.w)
            conv_block_copy4<aligned>(to, from_window);
        else
            *(float4 *)to = zero;
        conv_block_advance(source, CONV_BLOCK_COLUMN_STEP, pixel);
    }
}

// As conv_block_weight_gradient_parts.
template <bool aligned>
static __global__ void __launch_bounds__(CONV_BLOCK_GRADIENT_THREADS, CONV_BLOCK_GRADIENT_RESIDENT)
    conv_block_weight_gradient_parts_tf32(conv_block_source source, size_t pixels, int k, int padded,
                                          const float *gradient, float *parts)
{
    __shared__ __align__(16) conv_block_tf32_tiles tile[2];
    size_t first = blockIdx.z * pixels, all = (size_t)source.images * source.h * source.w;
    int left = first < all ? (int)min(pixels, all - first) : 0;
    int stages = (left + CONV_BLOCK_TF32_PIXELS - 1) / CONV_BLOCK_TF32_PIXELS;
    int filter = threadIdx.x % (CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR) * HEDDLE_VECTOR;
    int row = threadIdx.x / (CONV_BLOCK_GRADIENT_FILTERS / HEDDLE_VECTOR);
    int line = threadIdx.x / (CONV_BLOCK_GRADIENT_COLUMNS / HEDDLE_VECTOR);
    bool filter_inside = blockIdx.y * CONV_BLOCK_GRADIENT_FILTERS + filter < (unsigned)padded;
    conv_block_column_place place = conv_block_find_column(source);
    const float *from_gradient = gradient + (first + row) * padded + blockIdx.y * CONV_BLOCK_GRADIENT_FILTERS + filter;
    const float *from_window = source.data + (long long)((first + line) * source.channels) + place.shift;
    conv_block_pixel_place pixel = {(int)((first + line) / source.w % source.h), (int)((first + line) % source.w)};

    conv_block_fragments sum = {};
    if (stages > 0)
        conv_block_fetch_gradient<aligned>(source, padded, left, filter_inside, place, from_gradient, from_window,
                                           pixel, tile[0]);
    for (int stage = 0; stage < stages; stage++) {
        cp_async_wait_all();
        __syncthreads(); // this stage has arrived, and the other is no longer read
        left -= CONV_BLOCK_TF32_PIXELS;
        if (stage + 1 < stages)
            conv_block_fetch_gradient<aligned>(source, padded, left, filter_inside, place, from_gradient, from_window,
                                               pixel, tile[(stage + 1) % 2]);
        conv_block_multiply_gradient_tf32(tile[stage % 2], sum);
    }
    int width = CONV_BLOCK_TAPS * source.channels;
    conv_block_store_part_tf32(k, width, sum, parts + blockIdx.z * ((size_t)k * width));
}

// --- adding the parts ------------------------------------------------------------------------------------------------

enum {
    CONV_BLOCK_ADD_ACROSS = 32, // elements per block of the second pass: a warp's, coalesced
    CONV_BLOCK_ADD_DOWN = 8,    // threads that share an element's parts
};

// parts: (count, k, 9, padded), grad_weight: (k, c, 9)
static __global__ void conv_block_add_parts(int count, int k, int c, int padded, const float *parts, float *grad_weight)
{
    __shared__ float sums[CONV_BLOCK_ADD_DOWN][CONV_BLOCK_ADD_ACROSS];
    size_t size = (size_t)k * CONV_BLOCK_TAPS * padded, at = (size_t)blockIdx.x * CONV_BLOCK_ADD_ACROSS + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.y; i < count; i += CONV_BLOCK_ADD_DOWN)
        sum += at < size ? parts[i * size + at] : 0.0f;
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    int channel = (int)(at % padded), tap = (int)(at / padded % CONV_BLOCK_TAPS);
    if (threadIdx.y > 0 || at >= size || channel >= c)
        return;
    for (int i = 1; i < CONV_BLOCK_ADD_DOWN; i++)
        sum += sums[i][threadIdx.x];
    grad_weight[(at / padded / CONV_BLOCK_TAPS * c + channel) * CONV_BLOCK_TAPS + tap] = sum;
}

typedef void conv_block_weight_gradient_function(conv_block_source source, size_t pixels, int k, int padded,
                                                 const float *gradient, float *parts);

template <bool tf32> static inline conv_block_weight_gradient_function *conv_block_weight_gradient_kernel(bool aligned)
{
    if constexpr (tf32)
        return aligned ? conv_block_weight_gradient_parts_tf32<true> : conv_block_weight_gradient_parts_tf32<false>;
    else
        return aligned ? conv_block_weight_gradient_parts<true> : conv_block_weight_gradient_parts<false>;
}

template <bool tf32>
static inline void conv_block_launch_weight_gradient(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                                     const conv_block_source &source, const float *gradient,
                                                     float *parts, float *grad_weight)
{
    int padded = conv_block_padded(shape.k), count = conv_block_gradient_parts(&shape);
    size_t pixels = conv_block_ceil_div(conv_block_all_pixels(&shape), count);
    dim3 grid(heddle_ceil_div(conv_block_gradient_columns(&shape), CONV_BLOCK_GRADIENT_COLUMNS),
              heddle_ceil_div(shape.k, CONV_BLOCK_GRADIENT_FILTERS), count);
    auto kernel = conv_block_weight_gradient_kernel<tf32>(heddle_aligned16(source.data));
    kernel<<<grid, CONV_BLOCK_GRADIENT_THREADS, 0, stream>>>(source, pixels, shape.k, padded, gradient, parts);
    size_t size = (size_t)shape.k * CONV_BLOCK_TAPS * source.channels;
    conv_block_add_parts<<<heddle_ceil_div(size, CONV_BLOCK_ADD_ACROSS),
                           dim3(CONV_BLOCK_ADD_ACROSS, CONV_BLOCK_ADD_DOWN), 0, stream>>>(
        count, shape.k, shape.c, source.channels, parts, grad_weight);
}
