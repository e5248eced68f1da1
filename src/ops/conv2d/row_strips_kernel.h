// The kernel of conv2d's rung 5 (explained in 05_row_strips.cu), and of conv2d_bias_relu's rung 4, which applies relu
// in its epilogue.
#pragma once

#include "ops/conv2d/epilogue.h"
#include "ops/conv2d/row_strips.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"

enum {
    STRIP_THREADS = 128,
    FILTERS_EACH = 4, // filters per thread: their weights are one load of 16 bytes
    ROWS = 3,
    TAPS = 9,
    STAGES = 2, // one is computed with while the other is filled
};

// A block has `groups` * 4 filters; the rest of the threads' range are strips.
template <int groups, int pixels> struct tile {
    static const int strips = STRIP_THREADS / groups;
    static const int filters = groups * FILTERS_EACH;
    static const int channels = groups / 4;                 // per step: the same work between two barriers for either
    static const int row = (pixels + ROWS - 1 + 3) / 4 * 4; // with the window's overhang, in whole vectors
    static const int strip = ROWS * row;
    static const int copies = (strips * strip + STRIP_THREADS - 1) / STRIP_THREADS; // per thread and channel
    static const int staged = strips * pixels + 1; // a group's results; 1: groups start in different banks

    float image[STAGES][channels][strips][strip];
    float weight[STAGES][channels][TAPS][filters];
};

typedef struct strip_place {
    int n, y, x; // of its first pixel; n == images: beyond the last
} strip_place;

// packed: (channels * 9, columns). flipped: the window is walked from its far corner, for the gradient.
static __global__ void conv2d_pack_channels(conv2d_view view, bool flipped, int columns, const float *weight,
                                            float *packed)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)view.channels * TAPS * columns)
        return;
    int filter = (int)(at % columns), row = (int)(at / columns), tap = flipped ? TAPS - 1 - row % TAPS : row % TAPS;
    packed[at] = filter < view.filters
                     ? weight[(size_t)filter * view.filter_stride + (size_t)(row / TAPS) * view.channel_stride + tap]
                     : 0.0f;
}

// The block's strips: computed once, because divisions are slow.
__device__ static void find_strips(const conv2d_view &view, int strips_of_row, int pixels, int strips,
                                   strip_place *places)
{
    for (int i = threadIdx.x; i < strips; i += STRIP_THREADS) {
        long long strip = (long long)blockIdx.x * strips + i, row = strip / strips_of_row;
        places[i].x = (int)(strip % strips_of_row) * pixels;
        places[i].y = (int)(row % view.out_height);
        places[i].n = (int)min(row / view.out_height, (long long)view.images);
    }
    __syncthreads();
}

// Where each of this thread's elements of the strips lies in the first channel, relative to the first strip's image;
// -1: border, stays 0.
template <int groups, int pixels>
__device__ static void find_sources(const conv2d_view &view, const strip_place *places,
                                    int from[tile<groups, pixels>::copies])
{
    typedef tile<groups, pixels> tile;
#pragma unroll
    for (int i = 0; i < tile::copies; i++) {
        int at = threadIdx.x + i * STRIP_THREADS, strip = at / tile::strip;
        from[i] = -1;
        if (strip >= tile::strips || at % tile::row >= pixels + ROWS - 1)
            continue;
        strip_place place = places[strip];
        int h = place.y + at / tile::row % ROWS + view.origin, w = place.x + at % tile::row + view.origin;
        if (place.n < view.images && h >= 0 && h < view.height && w >= 0 && w < view.width)
            from[i] = ((place.n - places[0].n) * view.channels * view.height + h) * view.width + w;
    }
}

// Starts the copies of `count` channels starting at `channel`. image: the first strip's
template <int groups, int pixels>
__device__ static void fetch(tile<groups, pixels> &shared, int stage, const conv2d_view &view, const float *image,
                             const int from[tile<groups, pixels>::copies], const float *packed, int columns,
                             int channel, int count)
{
    typedef tile<groups, pixels> tile;
    size_t plane = (size_t)view.height * view.width;
    const float *source = image + channel * plane;
    float *to = &shared.image[stage][0][0][0] + threadIdx.x;
    for (int c = 0; c < count; c++, source += plane, to += tile::strips * tile::strip)
#pragma unroll
        for (int i = 0; i < tile::copies; i++)
            if (from[i] >= 0)
                cp_async_4(to + i * STRIP_THREADS, source + from[i]);
    const int apart = STRIP_THREADS / groups; // rows of the weight between two that a thread copies a vector of
    int row = threadIdx.x / groups, column = blockIdx.y * tile::filters + threadIdx.x % groups * FILTERS_EACH;
    const float *weight = packed + ((size_t)channel * TAPS + row) * columns + column;
    to = &shared.weight[stage][0][0][0] + threadIdx.x * FILTERS_EACH;
    for (; row < count * TAPS; row += apart, weight += (size_t)apart * columns, to += STRIP_THREADS * FILTERS_EACH)
        cp_async_16(to, weight);
}

template <int groups, int pixels>
__device__ static void multiply(const tile<groups, pixels> &shared, int stage, int c, int strip, int group,
                                float sum[pixels][FILTERS_EACH])
{
    typedef tile<groups, pixels> tile;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        float x[tile::row];
#pragma unroll
        for (int i = 0; i < tile::row; i += 4)
            *(float4 *)&x[i] = *(const float4 *)&shared.image[stage][c][strip][r * tile::row + i];
#pragma unroll
        for (int s = 0; s < ROWS; s++) {
            float4 w = *(const float4 *)&shared.weight[stage][c][r * ROWS + s][group * FILTERS_EACH];
#pragma unroll
            for (int p = 0; p < pixels; p++) {
                sum[p][0] += x[p + s] * w.x;
                sum[p][1] += x[p + s] * w.y;
                sum[p][2] += x[p + s] * w.z;
                sum[p][3] += x[p + s] * w.w;
            }
        }
    }
}

// Filter `f` of every group, transposed in `staged` so that neighbouring threads write neighbouring pixels.
template <int groups, int pixels, bool relu>
__device__ static void write_back(const conv2d_view &view, const strip_place *places, int f, const float *bias,
                                  const float sum[pixels][FILTERS_EACH], float *staged, float *output)
{
    typedef tile<groups, pixels> tile;
    int group = threadIdx.x % groups, strip = threadIdx.x / groups, first = blockIdx.y * tile::filters + f;
    float shift = bias && first + group * FILTERS_EACH < view.filters ? bias[first + group * FILTERS_EACH] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < pixels; p++)
        staged[group * tile::staged + strip * pixels + p] = conv2d_epilogue<relu>(sum[p][f] + shift);
    __syncthreads();
    size_t plane = (size_t)view.out_height * view.out_width;
    for (int i = threadIdx.x; i < tile::strips * pixels; i += STRIP_THREADS) {
        strip_place place = places[i / pixels];
        int x = place.x + i % pixels;
        if (place.n >= view.images || x >= view.out_width)
            continue;
        float *to = output + ((size_t)place.n * view.filters + first) * plane + (size_t)place.y * view.out_width + x;
#pragma unroll
        for (int g = 0; g < groups; g++, to += FILTERS_EACH * plane)
            if (first + g * FILTERS_EACH < view.filters)
                *to = staged[g * tile::staged + i];
    }
}

// source: (images, channels, height, width), output: (images, filters, out_height, out_width)
template <int groups, int pixels, bool relu>
__global__ void __launch_bounds__(STRIP_THREADS, 4)
    conv2d_row_strips(conv2d_view view, int strips_of_row, int columns, const float *source, const float *packed,
                      const float *bias, float *output)
{
    typedef tile<groups, pixels> tile;
    __shared__ __align__(16) tile shared;
    __shared__ strip_place places[tile::strips];
    static_assert(groups * tile::staged * sizeof(float) <= sizeof shared, "results take the tiles' place");
    int group = threadIdx.x % groups, strip = threadIdx.x / groups;

    for (int i = threadIdx.x; i < (int)(sizeof shared.image / sizeof(float)); i += STRIP_THREADS)
        (&shared.image[0][0][0][0])[i] = 0;
    find_strips(view, strips_of_row, pixels, tile::strips, places);
    int from[tile::copies];
    find_sources<groups, pixels>(view, places, from);
    const float *image = source + (size_t)places[0].n * view.channels * view.height * view.width;

    float sum[pixels][FILTERS_EACH] = {};
    fetch<groups, pixels>(shared, 0, view, image, from, packed, columns, 0, min(tile::channels, view.channels));
    for (int channel = 0, stage = 0; channel < view.channels; channel += tile::channels, stage ^= 1) {
        int next = channel + tile::channels;
        cp_async_wait_all();
        __syncthreads(); // this stage is filled, and the other is no longer read
        if (next < view.channels)
            fetch<groups, pixels>(shared, stage ^ 1, view, image, from, packed, columns, next,
                                  min(tile::channels, view.channels - next));
        int count = min(tile::channels, view.channels - channel);
#pragma unroll 1
        for (int c = 0; c < count; c++)
            multiply<groups, pixels>(shared, stage, c, strip, group, sum);
    }
#pragma unroll
    for (int f = 0; f < FILTERS_EACH; f++)
        write_back<groups, pixels, relu>(view, places, f, bias, sum, (float *)&shared, output);
}

template <int groups, int pixels, bool relu>
static void launch_tiles(cudaStream_t stream, const conv2d_view &view, const float *source, const float *packed,
                         const float *bias, float *output)
{
    int strips_of_row = (int)heddle_ceil_div(view.out_width, pixels);
    long long strips = (long long)view.images * view.out_height * strips_of_row;
    dim3 grid(heddle_ceil_div(strips, tile<groups, pixels>::strips),
              heddle_ceil_div(view.filters, tile<groups, pixels>::filters));
    conv2d_row_strips<groups, pixels, relu><<<grid, STRIP_THREADS, 0, stream>>>(
        view, strips_of_row, conv2d_packed_columns(&view), source, packed, bias, output);
}

template <bool relu>
static void launch_strips(const heddle_call *call, conv2d_view view, const float *source, const float *weight,
                          const float *bias, float *output)
{
    if (conv2d_pixels(&view) == 0)
        return;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    float *packed = (float *)call->workspace;
    bool flipped = view.tap_step < 0;
    int columns = conv2d_packed_columns(&view);
    conv2d_pack_channels<<<heddle_cuda_blocks((size_t)view.channels * TAPS * columns), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        view, flipped, columns, weight, packed);
    if (flipped)
        view.origin -= ROWS - 1;
    bool long_strips = conv2d_strip_pixels(view.out_width) == CONV2D_LONG_STRIP;
    bool many_filters = (view.filters - 1) % 64 >= 32; // the last block of 64 would be more than half full
    if (long_strips && many_filters)
        launch_tiles<16, CONV2D_LONG_STRIP, relu>(stream, view, source, packed, bias, output);
    else if (long_strips)
        launch_tiles<8, CONV2D_LONG_STRIP, relu>(stream, view, source, packed, bias, output);
    else if (many_filters)
        launch_tiles<16, CONV2D_SHORT_STRIP, relu>(stream, view, source, packed, bias, output);
    else
        launch_tiles<8, CONV2D_SHORT_STRIP, relu>(stream, view, source, packed, bias, output);
}
