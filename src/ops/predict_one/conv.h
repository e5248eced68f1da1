// Convolutions of predict_one: units of 16 pixels by 8, 16 or 32 channels.
#pragma once

#include "ops/predict_one/work.h"

// A row of a tile: where it is in the product, and its window of pixels.
struct predict_pixel {
    int y, x, line, column, sub;
    bool seen; // there is such a pixel; where not, it is the first
};

__device__ static predict_pixel predict_pixel_of(const predict_work &work, int tile, int row)
{
    const int inside = work.window * work.window, per = predict_quotient(PREDICT_ROWS, work.per_inside);
    const int inner = predict_quotient(row, work.per_inside), window = tile * per + inner;
    predict_pixel pixel;
    pixel.seen = inner < per && window < work.windows;
    pixel.sub = row - inner * inside;
    pixel.line = predict_quotient(window, work.per_next_w);
    pixel.column = window - pixel.line * work.next_w;
    const int sub_line = predict_quotient(pixel.sub, work.per_window);
    pixel.y = pixel.seen ? pixel.line * work.window + sub_line : 0;
    pixel.x = pixel.seen ? pixel.column * work.window + pixel.sub - sub_line * work.window : 0;
    return pixel;
}

// Four columns of a filter, in vectors from where it begins; -1: they are padding.
__device__ static int predict_tap(const predict_work &work, int four)
{
    const int tap = predict_quotient(four, work.per_vectors), line = predict_quotient(tap, work.per_r);
    return line >= work.r
               ? -1
               : (line * work.wide + tap - line * work.r) * work.dilation * work.vectors + four - tap * work.vectors;
}

// What a warp reads of `Round` chunks of columns, every eighth, for the two pixels of a lane.
template <int Round> struct predict_factors {
    float4 a[Round][2];
    const float4 *from[2]; // where the filters begin
    int taps[Round];

    __device__ void place(const predict_scene &scene, const predict_work &work, int tile)
    {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const predict_pixel pixel = predict_pixel_of(work, tile, threadIdx.x % 32 / 4 + j * 8);
            from[j] =
                (const float4 *)(scene.bank + work.in) + (pixel.y * work.wide + pixel.x) * work.stride * work.vectors;
        }
    }

    // Of the chunks from `first` of a warp's on.
    __device__ void find(const predict_work &work, const int *table, int first)
    {
        const int *mine = table + work.taps + first * PREDICT_THREADS / 8 + threadIdx.x / 32 * 4 + threadIdx.x % 4;
#pragma unroll
        for (int i = 0; i < Round; i++)
            taps[i] = mine[i * PREDICT_THREADS / 8];
    }

    // Until the middle of a filter is there, in one of its channels: each warp looks at another.
    __device__ void watch(const predict_work &work) const
    {
        const int warp = (int)threadIdx.x / 32;
        if ((int)threadIdx.x % 32 == warp * 4)
            predict_take(from[1] + work.probe + warp % work.vectors);
        __syncwarp();
    }

    __device__ void read()
    {
#pragma unroll
        for (int i = 0; i < 2 * Round; i++)
            a[i / 2][i % 2] = taps[i / 2] < 0 ? make_float4(0, 0, 0, 0) : predict_peek(from[i % 2] + taps[i / 2]);
    }

    // Reads what is missing again, all at once, until nothing is.
    __device__ void wait()
    {
        for (bool missing = true; missing;) {
            missing = false;
#pragma unroll
            for (int i = 0; i < 2 * Round; i++)
                if (predict_is_missing(a[i / 2][i % 2])) {
                    a[i / 2][i % 2] = predict_peek(from[i % 2] + taps[i / 2]);
                    missing = true;
                }
        }
        __syncwarp();
    }
};

// A lane's columns of `Tiles` times eight channels in as many chunks.
template <int Tiles, int Round>
__device__ static void predict_conv_weights(const predict_scene &scene, const predict_work &work, int tile, int first,
                                            float4 (&b)[Round][Tiles])
{
    const int all = (work.channels + 7) / 8;
#pragma unroll
    for (int j = 0; j < Tiles; j++) {
        const int row = min(tile + j, all - 1); // nobody looks at the sums of a tile behind the last
        const float4 *from =
            (const float4 *)(scene.weights + work.weight) + (row * work.rounds + first) * PREDICT_THREADS + threadIdx.x;
#pragma unroll
        for (int i = 0; i < Round; i++)
            b[i][j] = from[i * PREDICT_THREADS];
    }
}

// The larger one; NaN if one is, as in max pooling anywhere else.
__device__ static __forceinline__ float predict_larger(float value, float other)
{
    return other > value || isnan(other) ? other : value;
}

// The results that a thread makes of a unit's sums: a warp has four rows of eight channels at a time.
template <int Tiles> struct predict_results {
    enum {
        COLUMNS = Tiles * 8,
        STRIDE = predict_stride(Tiles),
        BLOCKS = PREDICT_ROWS / 4 * Tiles,
        EACH = BLOCKS > HEDDLE_PREDICT_WARPS ? BLOCKS / HEDDLE_PREDICT_WARPS : 1,
    };
    float bias[EACH], around[EACH];
    int at[EACH], beside[EACH]; // where the result goes, and what is added to it; -1: nowhere
    bool real[EACH];            // it is not of a channel that only fills a vector

    // Of the j-th result: its row, and its channel in the unit.
    static __device__ int row(int j)
    {
        return (j * HEDDLE_PREDICT_WARPS + (int)threadIdx.x / 32) / Tiles * 4 + threadIdx.x % 32 / 8;
    }
    static __device__ int column(int j)
    {
        return (j * HEDDLE_PREDICT_WARPS + (int)threadIdx.x / 32) % Tiles * 8 + threadIdx.x % 8;
    }
    static __device__ bool has_some()
    {
        return BLOCKS >= HEDDLE_PREDICT_WARPS || threadIdx.x / 32 < BLOCKS;
    }

    __device__ void place(const predict_scene &scene, const predict_work &work, int tile, int group)
    {
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int channel = group * COLUMNS + column(j);
            const predict_pixel pixel = predict_pixel_of(work, tile, row(j));
            real[j] = has_some() && channel < work.channels;
            bias[j] = real[j] ? scene.weights[work.bias + channel] : 0.0f;
            at[j] = has_some() && pixel.seen && pixel.sub == 0 && channel < work.padded
                        ? work.left + (pixel.line * work.left_wide + pixel.column) * work.padded + channel
                        : -1;
            beside[j] = real[j] && work.around >= 0
                            ? work.around + (pixel.y * work.around_wide + pixel.x) * work.padded + channel
                            : -1;
        }
    }

    __device__ void look_around(const predict_scene &scene)
    {
#pragma unroll
        for (int j = 0; j < EACH; j++)
            around[j] = beside[j] >= 0 ? predict_peek(scene.bank + beside[j]) : 0.0f;
    }

    // An element of the product, with what is added to it, after the function.
    __device__ float finish(const predict_scene &scene, const predict_work &work, int j, const float *sums)
    {
        float value = bias[j];
#pragma unroll
        for (int warp = 0; warp < HEDDLE_PREDICT_WARPS; warp++)
            value += sums[(warp * PREDICT_ROWS + row(j)) * STRIDE + column(j)];
        while (__float_as_uint(around[j]) == PREDICT_MISSING)
            around[j] = predict_peek(scene.bank + beside[j]);
        return real[j] ? rows_function(work.function, value + around[j]) : 0.0f; // not what 0 * infinity is
    }

    // Windows of one or four pixels, from the sums of all warps: the lanes of a window add theirs up.
    __device__ void store(const predict_scene &scene, const predict_work &work, const float *sums)
    {
        if (!has_some())
            return;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            float value = finish(scene, work, j, sums);
            __syncwarp();
            if (work.window == 2) {
                for (int distance = 8; distance < 32; distance *= 2) {
                    const float other = __shfl_xor_sync(~0u, value, distance);
                    value = work.average ? value + other : predict_larger(value, other);
                }
                value = work.average ? value * 0.25f : value;
            }
            if (at[j] >= 0)
                predict_leave(scene, at[j], value);
        }
    }

    // Larger windows: elements go back to where the first warp's sums were.
    __device__ void store_large(const predict_scene &scene, const predict_work &work, float *sums)
    {
        const int inside = work.window * work.window;
        if (has_some())
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sums[row(j) * STRIDE + column(j)] = finish(scene, work, j, sums);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            if (at[j] < 0)
                continue;
            const float *from = sums + row(j) * STRIDE + column(j);
            float pooled = *from;
            for (int sub = 1; sub < inside; sub++)
                pooled = work.average ? pooled + from[sub * STRIDE] : predict_larger(pooled, from[sub * STRIDE]);
            predict_leave(scene, at[j], work.average ? pooled / (float)inside : pooled);
        }
    }
};

// The sums of `Round` chunks at a time, added to those before.
template <typename Math, int Tiles, int Round>
__device__ static __forceinline__ void predict_multiply(typename Math::sums (&sums)[Tiles],
                                                        const predict_factors<Round> &factors,
                                                        const float4 (&b)[Round][Tiles], float4 *shared)
{
#pragma unroll
    for (int i = 0; i < Round; i++) {
        const typename Math::rows rows(factors.a[i][0], factors.a[i][1]);
#pragma unroll
        for (int j = 0; j < Tiles; j++)
            Math::multiply(sums[j], rows, b[i][j], shared);
    }
}

template <typename Math, int Tiles, int Round>
__device__ static void predict_conv(const predict_scene &scene, const predict_work &work, int unit, predict_room &room)
{
    enum { STRIDE = predict_stride(Tiles) };
    const int tile = predict_quotient(unit, work.per_groups), group = unit - tile * work.groups;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 b[Round][Tiles];
    predict_factors<Round> factors;
    predict_results<Tiles> results;
    typename Math::sums sums[Tiles] = {};
    predict_conv_weights<Tiles, Round>(scene, work, group * Tiles, 0, b);
    factors.place(scene, work, tile);
    factors.find(work, room.taps, 0);
    results.place(scene, work, tile, group);
    factors.watch(work);
    factors.read();
    results.look_around(scene);
    predict_multiply<Math>(sums, factors, b, room.shared[warp]);
    if (__any_sync(~0u, Math::is_missing(sums[0]))) { // a column that is missing makes all channels NaN
        factors.wait();
#pragma unroll
        for (int j = 0; j < Tiles; j++)
            Math::clear(sums[j]);
        predict_multiply<Math>(sums, factors, b, room.shared[warp]);
    }
    for (int first = Round; first < work.rounds; first += Round) {
        predict_conv_weights<Tiles, Round>(scene, work, group * Tiles, first, b);
        factors.find(work, room.taps, first);
        factors.read();
        factors.wait();
        predict_multiply<Math>(sums, factors, b, room.shared[warp]);
    }
    __syncthreads(); // the unit before is stored
    float *kept = room.sums + (warp * PREDICT_ROWS + lane / 4) * STRIDE + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < Tiles; j++) {
        float four[4];
        Math::leave(sums[j], four);
        *(float2 *)(kept + j * 8) = make_float2(four[0], four[1]);
        *(float2 *)(kept + 8 * STRIDE + j * 8) = make_float2(four[2], four[3]);
    }
    __syncthreads();
    if (work.window <= 2)
        results.store(scene, work, room.sums);
    else
        results.store_large(scene, work, room.sums);
}
