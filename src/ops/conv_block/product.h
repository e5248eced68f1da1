// A 3×3 convolution as a tiled product, the main loop of conv_block's fused rungs. The matrix of windows has one row
// per output pixel and one column per tap of a channel; it is gathered from the image into shared memory and never
// written to global memory. A thread holds 8 pixels by 8 filters in registers; the caller provides the epilogue.
//
// The source is channels-last, in whole steps of 8 channels. The 8 numbers of a pixel and tap are two loads of 16
// bytes, their place is linear in the pixel, and whether they lie inside the image is one bit of nine that a thread
// computes once. A source of another form is copied to this one first (conv_block_source).
#pragma once

#include "ops/conv_block/cuda_layout.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    CONV_BLOCK_TAPS = HEDDLE_CONV_BLOCK_TAPS,
    CONV_BLOCK_TILE = 8, // pixels and filters per thread, as two runs of 4: loads of 16 bytes
    CONV_BLOCK_RUN = CONV_BLOCK_TILE / 2,
    CONV_BLOCK_THREADS = CONV_BLOCK_PIXELS * CONV_BLOCK_FILTERS / (CONV_BLOCK_TILE * CONV_BLOCK_TILE), // 128
    CONV_BLOCK_VECTORS = CONV_BLOCK_DEPTH / HEDDLE_VECTOR,
    // Threads of a warp along the pixels; the rest are along the filters. 8 by 4 share their loads best.
    CONV_BLOCK_LANES = 8,
};

// data: (images, h, w, channels), channels a multiple of 8
typedef struct conv_block_source {
    const float *data;
    int images, h, w, channels;
} conv_block_source;

// A tile in shared memory: one step's.
template <int filters> struct conv_block_tile {
    static const int pixels = CONV_BLOCK_PIXELS * CONV_BLOCK_FILTERS / filters;
    static const int across = pixels / CONV_BLOCK_TILE;                    // threads along the pixels
    static const int gathered = pixels / CONV_BLOCK_THREADS;               // pixels that a thread gathers for
    static const int weights = CONV_BLOCK_DEPTH * filters / HEDDLE_VECTOR; // vectors: at most one per thread

    float window[CONV_BLOCK_DEPTH][pixels];
    float weight[CONV_BLOCK_DEPTH][filters];
};

// --- where a thread's pixels and filters are ------------------------------------------------------------------------

// Row `index` of the product is a pixel: in image order or, if they are to be pooled, by windows of 2×2 with their four
// pixels in sequence. bits: which of the nine taps lie inside the image; none beyond the last pixel.
typedef struct conv_block_pixel {
    const float *from; // its first channel
    unsigned bits;
} conv_block_pixel;

template <bool windows>
__device__ static inline conv_block_pixel conv_block_pixel_at(const conv_block_source &source, size_t index)
{
    size_t n;
    int y, x;
    if (windows) {
        int down = source.h / 2, across = source.w / 2;
        size_t window = index / 4;
        x = (int)(window % across) * 2 + (int)(index % 2);
        y = (int)(window / across % down) * 2 + (int)(index / 2 % 2);
        n = window / across / down;
    } else {
        x = (int)(index % source.w);
        y = (int)(index / source.w % source.h);
        n = index / source.w / source.h;
    }
    conv_block_pixel pixel = {source.data + ((n * source.h + y) * source.w + x) * source.channels, 0};
    if (n < (size_t)source.images)
        for (int tap = 0; tap < CONV_BLOCK_TAPS; tap++) {
            int h = y + tap / 3 - 1, w = x + tap % 3 - 1;
            if (h >= 0 && h < source.h && w >= 0 && w < source.w)
                pixel.bits |= 1u << tap;
        }
    return pixel;
}

// This thread's place in the block, along the pixels and along the filters.
template <int filters> __device__ static inline int conv_block_across(void)
{
    const int warps = conv_block_tile<filters>::across / CONV_BLOCK_LANES; // across
    return threadIdx.x / 32 % warps * CONV_BLOCK_LANES + threadIdx.x % CONV_BLOCK_LANES;
}

template <int filters> __device__ static inline int conv_block_down(void)
{
    const int warps = conv_block_tile<filters>::across / CONV_BLOCK_LANES;
    return threadIdx.x / 32 / warps * (32 / CONV_BLOCK_LANES) + threadIdx.x % 32 / CONV_BLOCK_LANES;
}

// Of this thread's pixel p and filter f, in the block's tile.
template <int filters> __device__ static inline int conv_block_tile_pixel(int p)
{
    const int pixels = conv_block_tile<filters>::pixels;
    return p / CONV_BLOCK_RUN * (pixels / 2) + conv_block_across<filters>() * CONV_BLOCK_RUN + p % CONV_BLOCK_RUN;
}

template <int filters> __device__ static inline int conv_block_tile_filter(int f)
{
    return f / CONV_BLOCK_RUN * (filters / 2) + conv_block_down<filters>() * CONV_BLOCK_RUN + f % CONV_BLOCK_RUN;
}

// --- the product ----------------------------------------------------------------------------------------------------

// The progress of this thread's loads: tap and channel of the source, row of the packed weight.
typedef struct conv_block_cursor {
    int tap, channel;
    const float *weight;
} conv_block_cursor;

// A step's numbers, held in registers on the way to shared memory.
template <int filters> struct conv_block_step {
    float4 window[conv_block_tile<filters>::gathered][CONV_BLOCK_VECTORS], weight;
};

template <int filters, bool aligned>
__device__ static inline void conv_block_load(const conv_block_source &source, int columns,
                                              const conv_block_pixel pixel[conv_block_tile<filters>::gathered],
                                              conv_block_cursor &cursor, conv_block_step<filters> &step)
{
    typedef conv_block_tile<filters> tile;
    int shift = ((cursor.tap / 3 - 1) * source.w + cursor.tap % 3 - 1) * source.channels + cursor.channel;
#pragma unroll
    for (int g = 0; g < tile::gathered; g++) {
        bool inside = pixel[g].bits >> cursor.tap & 1;
        const float *from = pixel[g].from + shift;
#pragma unroll
        for (int v = 0; v < CONV_BLOCK_VECTORS; v++)
            step.window[g][v] =
                inside ? heddle_load4<aligned>(from + v * HEDDLE_VECTOR) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    if (tile::weights == CONV_BLOCK_THREADS || threadIdx.x < tile::weights)
        step.weight = *(const float4 *)cursor.weight;
    cursor.weight += (size_t)CONV_BLOCK_DEPTH * columns;
    cursor.channel += CONV_BLOCK_DEPTH;
    if (cursor.channel == source.channels) {
        cursor.channel = 0;
        cursor.tap++;
    }
}

template <int filters>
__device__ static inline void conv_block_store(const conv_block_step<filters> &step, conv_block_tile<filters> &tile)
{
    typedef conv_block_tile<filters> type;
#pragma unroll
    for (int g = 0; g < type::gathered; g++)
#pragma unroll
        for (int v = 0; v < CONV_BLOCK_VECTORS; v++) {
            float *to = &tile.window[v * HEDDLE_VECTOR][threadIdx.x + g * CONV_BLOCK_THREADS];
            to[0 * type::pixels] = step.window[g][v].x;
            to[1 * type::pixels] = step.window[g][v].y;
            to[2 * type::pixels] = step.window[g][v].z;
            to[3 * type::pixels] = step.window[g][v].w;
        }
    if (type::weights == CONV_BLOCK_THREADS || threadIdx.x < type::weights)
        *((float4 *)tile.weight + threadIdx.x) = step.weight;
}

template <int filters>
__device__ static inline void conv_block_multiply(const conv_block_tile<filters> &tile,
                                                  float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    int first_pixel = conv_block_tile_pixel<filters>(0), first_filter = conv_block_tile_filter<filters>(0);
#pragma unroll
    for (int d = 0; d < CONV_BLOCK_DEPTH; d++) {
        float __align__(16) pixel[CONV_BLOCK_TILE];
        float __align__(16) filter[CONV_BLOCK_TILE];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            *(float4 *)&pixel[half * CONV_BLOCK_RUN] =
                *(const float4 *)&tile.window[d][half * (conv_block_tile<filters>::pixels / 2) + first_pixel];
            *(float4 *)&filter[half * CONV_BLOCK_RUN] =
                *(const float4 *)&tile.weight[d][half * (filters / 2) + first_filter];
        }
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
            for (int p = 0; p < CONV_BLOCK_TILE; p++)
                sum[f][p] += pixel[p] * filter[f];
    }
}

// Adds `from` to `to` and clears it.
__device__ static inline void conv_block_move_sums(float from[CONV_BLOCK_TILE][CONV_BLOCK_TILE],
                                                   float to[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
        for (int p = 0; p < CONV_BLOCK_TILE; p++) {
            to[f][p] += from[f][p];
            from[f][p] = 0;
        }
}

template <int filters, bool windows>
__device__ static inline void conv_block_find_pixels(const conv_block_source &source,
                                                     conv_block_pixel pixel[conv_block_tile<filters>::gathered])
{
    typedef conv_block_tile<filters> type;
#pragma unroll
    for (int g = 0; g < type::gathered; g++)
        pixel[g] = conv_block_pixel_at<windows>(source, (size_t)blockIdx.x * type::pixels + threadIdx.x +
                                                            g * CONV_BLOCK_THREADS);
}

template <int filters> __device__ static inline conv_block_cursor conv_block_start(int columns, const float *packed)
{
    const int vectors = filters / HEDDLE_VECTOR; // of a row of the tile's weight
    conv_block_cursor cursor = {0, 0,
                                packed + (size_t)(threadIdx.x / vectors) * columns + blockIdx.y * filters +
                                    threadIdx.x % vectors * HEDDLE_VECTOR};
    return cursor;
}

// sum[f][p]: the convolution at the tile's pixel conv_block_tile_pixel(p) and filter conv_block_tile_filter(f), of the
// block's tile (blockIdx.x along the pixels, blockIdx.y along the filters). packed: (9, channels, columns). The next
// step is loaded into registers while this one is multiplied, and stored to the other tile: one barrier per step.
// by_tap: the products of a tap are summed separately first. In a long running sum each term is rounded to the size of
// the whole; this more than halves the error. It takes 64 registers.
template <int filters, bool aligned, bool windows, bool by_tap>
__device__ static inline void conv_block_product(const conv_block_source &source, int columns, const float *packed,
                                                 conv_block_tile<filters> tile[2],
                                                 float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    conv_block_pixel pixel[conv_block_tile<filters>::gathered];
    conv_block_find_pixels<filters, windows>(source, pixel);
    conv_block_cursor cursor = conv_block_start<filters>(columns, packed);
    int steps = CONV_BLOCK_TAPS * (source.channels / CONV_BLOCK_DEPTH);
    float taps[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {}; // that are done
    conv_block_step<filters> next;
    conv_block_load<filters, aligned>(source, columns, pixel, cursor, next);
    conv_block_store<filters>(next, tile[0]);
    __syncthreads();
    for (int step = 1; step <= steps; step++) {
        if (step < steps)
            conv_block_load<filters, aligned>(source, columns, pixel, cursor, next);
        conv_block_multiply<filters>(tile[(step - 1) % 2], sum);
        if (by_tap && step % (source.channels / CONV_BLOCK_DEPTH) == 0)
            conv_block_move_sums(sum, taps);
        if (step < steps)
            conv_block_store<filters>(next, tile[step % 2]);
        __syncthreads();
    }
    if (by_tap)
        conv_block_move_sums(taps, sum);
}

// --- launching ------------------------------------------------------------------------------------------------------

// Beyond the 48 KiB that a kernel has without a request.
static inline void conv_block_allow_shared(const void *kernel, size_t bytes)
{
    if (bytes > 48 * 1024)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

// --- converting operands to that form -------------------------------------------------------------------------------

// from: (n, c, h, w) or (n, h, w, c), to: (n, h, w, padded). One thread per element, in the order it is written.
static __global__ void conv_block_copy_input(heddle_conv_block_shape shape, int padded, const float *from, float *to)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, pixel = at / padded, plane = (size_t)shape.h * shape.w;
    int c = (int)(at % padded);
    if (pixel >= shape.n * plane)
        return;
    size_t n = pixel / plane, within = pixel % plane;
    float value = 0;
    if (c < shape.c)
        value = shape.input_channels_last ? from[pixel * shape.c + c] : from[(n * shape.c + c) * plane + within];
    to[at] = value;
}

static inline conv_block_source conv_block_input_source(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                                        const float *input, float *copy)
{
    int padded = conv_block_padded(shape.c);
    conv_block_source source = {input, shape.n, shape.h, shape.w, padded};
    if (conv_block_copies_input(&shape)) {
        size_t size = conv_block_all_pixels(&shape) * padded;
        conv_block_copy_input<<<heddle_cuda_blocks(size), HEDDLE_CUDA_BLOCK, 0, stream>>>(shape, padded, input, copy);
        source.data = copy;
    }
    return source;
}

template <bool tf32> __device__ static inline float conv_block_rounded(float value)
{
    return tf32 ? __uint_as_float(mma_to_tf32(value)) : value;
}

// The weight as the product needs it: taps outermost, filters adjacent; zeros beyond the channels and filters.
// transposed: the gradient of the input is a convolution too, of the gradient of the output, with the two kinds of
// channels swapped and the taps reversed.
template <bool tf32>
static __global__ void conv_block_pack_weight(int channels, int filters, int padded, int columns, bool transposed,
                                              const float *weight, float *packed)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)CONV_BLOCK_TAPS * padded * columns)
        return;
    int filter = (int)(at % columns), channel = (int)(at / columns % padded), tap = (int)(at / columns / padded);
    float value = 0;
    if (filter < filters && channel < channels)
        value = transposed ? weight[((size_t)channel * filters + filter) * CONV_BLOCK_TAPS + CONV_BLOCK_TAPS - 1 - tap]
                           : weight[((size_t)filter * channels + channel) * CONV_BLOCK_TAPS + tap];
    packed[at] = conv_block_rounded<tf32>(value);
}
