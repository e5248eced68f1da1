// rows_trunk: convolutions of one image in shared memory, and the gradients of their weights, by the threads of a
// block. Every thread has a tile of results in registers; what it multiplies comes in vectors of four floats.
#pragma once

#include "ops/cuda/division.h"
#include "ops/rows_trunk/layout.h"

// What a stage's items are divided by.
struct trunk_divisors {
    heddle_divisor strips, lines, groups;    // of the convolution
    heddle_divisor back_groups, back_splits; // of its input's gradient
    heddle_divisor sum_splits, rows, c;      // of its weight's
    heddle_divisor sum_group, taps;
    heddle_divisor filter, group, back_group; // of weights
    heddle_divisor next_w, next_h;            // of windows
};

static inline trunk_divisors trunk_divisors_of(const trunk_stage *stage)
{
    trunk_divisors by;
    by.strips = heddle_divisor_of(stage->forward.strips);
    by.lines = heddle_divisor_of(stage->size.out_h);
    by.groups = heddle_divisor_of(stage->forward.groups);
    by.back_groups = heddle_divisor_of(stage->backward.groups);
    by.back_splits = heddle_divisor_of(stage->backward.splits);
    by.sum_splits = heddle_divisor_of(stage->sums.splits);
    by.rows = heddle_divisor_of(stage->sums.rows);
    by.c = heddle_divisor_of(stage->size.c);
    by.sum_group = heddle_divisor_of(stage->sums.group);
    by.taps = heddle_divisor_of(stage->sums.taps);
    by.filter = heddle_divisor_of(stage->of.r * stage->of.r);
    by.group = heddle_divisor_of(stage->forward.group);
    by.back_group = heddle_divisor_of(stage->backward.group);
    by.next_w = heddle_divisor_of(stage->size.next_w);
    by.next_h = heddle_divisor_of(stage->size.next_h);
    return by;
}

// Four floats of shared memory.
__device__ static __forceinline__ void load_four(const float *from, float *to)
{
    const float4 four = *(const float4 *)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

__device__ static __forceinline__ void store_four(float *to, const float *from)
{
    *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
}

// --- forward --------------------------------------------------------------------------------------------------------

// Adds one line of the filter to a strip of results of G channels. line: the input from the strip's first column on;
// weights: (R, G padded)
template <int R, int G>
__device__ static __forceinline__ void add_filter_line(const float *line, const float *weights,
                                                       float (&sum)[G][TRUNK_STRIP])
{
    enum { ROOM = G > 4 ? 8 : 4, COLUMNS = (R + TRUNK_STRIP - 1 + 3) / 4 * 4 };
    float x[COLUMNS], w[ROOM];
#pragma unroll
    for (int i = 0; i < COLUMNS; i += 4)
        load_four(line + i, x + i);
#pragma unroll
    for (int s = 0; s < R; s++) {
#pragma unroll
        for (int i = 0; i + 2 < G; i += 4)
            load_four(weights + s * ROOM + i, w + i);
        if (G % 4 == 2) {
            const float2 two = *(const float2 *)(weights + s * ROOM + G - 2);
            w[G - 2] = two.x, w[G - 1] = two.y;
        }
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int t = 0; t < TRUNK_STRIP; t++)
                sum[g][t] += w[g] * x[s + t];
    }
}

// The same for a filter whose size is not known at compile time, tap by tap.
__device__ static __forceinline__ void add_filter_line(const float *line, const float *weights, int r,
                                                       float (&sum)[4][TRUNK_STRIP])
{
    for (int s = 0; s < r; s++) {
        float w[4];
        load_four(weights + 4 * s, w);
#pragma unroll
        for (int g = 0; g < 4; g++)
#pragma unroll
            for (int t = 0; t < TRUNK_STRIP; t++)
                sum[g][t] += w[g] * line[s + t];
    }
}

// R: side of the filter, 0: not known at compile time; G: channels per thread
template <int R, int G>
__device__ static void convolve_by(const trunk_stage &stage, const trunk_divisors &by, const float *input,
                                   const float *weights, float *output)
{
    enum { ROOM = G > 4 ? 8 : 4 };
    const trunk_conv &conv = stage.forward;
    const int r = R > 0 ? R : stage.of.r, lines = stage.size.out_h;
    for (int item = threadIdx.x; item < conv.items; item += TRUNK_THREADS) {
        unsigned strip, y, group;
        const unsigned row = heddle_divide(heddle_divide(item, by.strips, &strip), by.lines, &y);
        const int split = (int)heddle_divide(row, by.groups, &group);
        const int first = split * conv.share, end = min(stage.size.c, first + conv.share);
        const float *line = input + first * conv.plane + y * conv.pitch + TRUNK_STRIP * strip;
        const float *w = weights + (group * stage.size.c + first) * r * r * ROOM;
        float sum[G][TRUNK_STRIP] = {};
#pragma unroll 1
        for (int c = first; c < end; c++, line += conv.plane)
#pragma unroll
            for (int i = 0; i < r; i++, w += r * ROOM)
                if constexpr (R > 0)
                    add_filter_line<R, G>(line + i * conv.pitch, w, sum);
                else
                    add_filter_line(line + i * conv.pitch, w, r, sum);
#pragma unroll
        for (int g = 0; g < G; g++)
            if (group * G + g < stage.of.k)
                store_four(output +
                               (((split * stage.of.k + group * G + g) * lines + y) * conv.strips + strip) * TRUNK_STRIP,
                           sum[g]);
    }
}

// output: (splits, k, lines, strips, STRIP), each split a share of the sums
__device__ static void convolve(const trunk_stage &stage, const trunk_divisors &by, const float *input,
                                const float *weights, float *output)
{
    const int r = stage.of.r, group = stage.forward.group;
    if (r == 5 && group == 8)
        convolve_by<5, 8>(stage, by, input, weights, output);
    else if (r == 5 && group == 6)
        convolve_by<5, 6>(stage, by, input, weights, output);
    else if (r == 5)
        convolve_by<5, 4>(stage, by, input, weights, output);
    else if (r == 3 && group == 8)
        convolve_by<3, 8>(stage, by, input, weights, output);
    else if (r == 3 && group == 6)
        convolve_by<3, 6>(stage, by, input, weights, output);
    else if (r == 3)
        convolve_by<3, 4>(stage, by, input, weights, output);
    else
        convolve_by<0, 4>(stage, by, input, weights, output);
}

// --- the gradient of the input --------------------------------------------------------------------------------------

template <int R, int G>
__device__ static void spread_by(const trunk_stage &stage, const trunk_divisors &by, const float *gradient,
                                 const float *weights, float *output)
{
    enum { ROOM = (R + TRUNK_STRIP - 1 + 3) / 4 * 4 };
    const trunk_spread &spread = stage.backward;
    const int strips = stage.forward.strips, channels = stage.size.c;
    for (int item = threadIdx.x; item < spread.items; item += TRUNK_THREADS) {
        // The line comes last: which lines of the filter reach it is nearly the same for a warp.
        unsigned strip, group, split;
        const unsigned column = heddle_divide(heddle_divide(item, by.strips, &strip), by.back_groups, &group);
        const int y = (int)heddle_divide(column, by.back_splits, &split);
        const int line = y + stage.of.padding, begin = max(0, line - stage.size.out_h + 1), end = min(R, line + 1);
        const int first = split * spread.share, last = min(stage.of.k, first + spread.share);
        float sum[G][ROOM] = {};
#pragma unroll 1
        for (int k = first; k < last; k++)
#pragma unroll 1
            for (int i = begin; i < end; i++) {
                const float *from = weights + group * spread.pitch + (k * R + i) * R * TRUNK_GROUP;
                float d[TRUNK_STRIP], w[TRUNK_GROUP];
                load_four(gradient + k * stage.sums.plane + (line - i) * stage.sums.pitch + TRUNK_STRIP * strip, d);
#pragma unroll
                for (int s = 0; s < R; s++) {
                    load_four(from + s * TRUNK_GROUP, w);
#pragma unroll
                    for (int g = 0; g < G; g++)
#pragma unroll
                        for (int t = 0; t < TRUNK_STRIP; t++)
                            sum[g][s + t] += w[g] * d[t];
                }
            }
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int i = 0; i < ROOM && group * G + g < channels; i += 4)
                store_four(output + (((split * channels + group * G + g) * stage.size.h + y) * strips + strip) * ROOM +
                               i,
                           sum[g] + i);
    }
}

// gradient: of the results, (k, out_h, strips) and zero beyond them; output: (splits, c, h, strips, room)
__device__ static void spread(const trunk_stage &stage, const trunk_divisors &by, const float *gradient,
                              const float *weights, float *output)
{
    const bool three = stage.backward.group == 3;
    switch (stage.of.r) {
    case 1: return spread_by<1, 4>(stage, by, gradient, weights, output);
    case 2: return spread_by<2, 4>(stage, by, gradient, weights, output);
    case 3:
        return three ? spread_by<3, 3>(stage, by, gradient, weights, output)
                     : spread_by<3, 4>(stage, by, gradient, weights, output);
    case 4: return spread_by<4, 4>(stage, by, gradient, weights, output);
    case 5:
        return three ? spread_by<5, 3>(stage, by, gradient, weights, output)
                     : spread_by<5, 4>(stage, by, gradient, weights, output);
    case 6: return spread_by<6, 4>(stage, by, gradient, weights, output);
    default: return spread_by<7, 4>(stage, by, gradient, weights, output);
    }
}

// The gradient of one pixel of the input, from what spread() has left of all strips that reach it.
__device__ static __forceinline__ float sum_of_strips(const trunk_stage &stage, const float *shares, int c, int y,
                                                      int x)
{
    const int strips = stage.forward.strips, room = stage.backward.room, column = x + stage.of.padding;
    const int share = stage.size.c * stage.size.h * strips * room;
    float sum = 0;
    for (int strip = min(column / TRUNK_STRIP, strips - 1); strip >= 0 && column - TRUNK_STRIP * strip < room;
         strip--) {
        const float *from = shares + ((c * stage.size.h + y) * strips + strip) * room + column - TRUNK_STRIP * strip;
        for (int split = 0; split < stage.backward.splits; split++)
            sum += from[split * share];
    }
    return sum;
}

// --- the gradient of the weight -------------------------------------------------------------------------------------

// Adds a line of results to a thread's taps. x: the input from the first tap's column on; d: the gradient of the line,
// the next channel's `plane` floats on
template <int S, int G>
__device__ static __forceinline__ void add_gradient_line(const float *x_line, const float *d_line, int plane,
                                                         int strips, float (&sum)[G][S])
{
    enum { COLUMNS = S + TRUNK_STRIP - 1, KEPT = (COLUMNS + 3) / 4 * 4 - TRUNK_STRIP };
    float x[KEPT + TRUNK_STRIP];
#pragma unroll
    for (int i = 0; i < KEPT; i += 4)
        load_four(x_line + i, x + i);
#pragma unroll 1
    for (int strip = 0; strip < strips; strip++, x_line += TRUNK_STRIP, d_line += TRUNK_STRIP) {
        if (S == 1) { // off alignment, as the tap is
#pragma unroll
            for (int t = 0; t < TRUNK_STRIP; t++)
                x[t] = x_line[t];
        } else {
            load_four(x_line + KEPT, x + KEPT);
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            float d[TRUNK_STRIP];
            load_four(d_line + g * plane, d);
#pragma unroll
            for (int s = 0; s < S; s++)
#pragma unroll
                for (int t = 0; t < TRUNK_STRIP; t++)
                    sum[g][s] += d[t] * x[s + t];
        }
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            x[i] = x[i + TRUNK_STRIP];
    }
}

// S: taps per thread, G: channels
template <int S, int G>
__device__ static void add_weight_gradient_by(const trunk_stage &stage, const trunk_divisors &by, const float *input,
                                              const float *gradient, float *slots)
{
    const trunk_sums &sums = stage.sums;
    const int across = stage.of.r / S; // threads that share a line of the filter
    for (int item = threadIdx.x; item < sums.items; item += TRUNK_THREADS) {
        unsigned split, row, c;
        const unsigned plane = heddle_divide(heddle_divide(item, by.sum_splits, &split), by.rows, &row);
        const int group = (int)heddle_divide(plane, by.c, &c);
        const float *x = input + c * stage.forward.plane + row / across * stage.forward.pitch + row % across;
        const float *d = gradient + group * G * sums.plane;
        float sum[G][S] = {};
#pragma unroll 1
        for (int y = (int)split; y < stage.size.out_h; y += sums.splits)
            add_gradient_line<S, G>(x + y * stage.forward.pitch, d + y * sums.pitch, sums.plane, stage.forward.strips,
                                    sum);
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int s = 0; s < S; s++)
                slots[(g * S + s) * sums.items + item] += sum[g][s];
    }
}

// Adds an image's gradient of the weight to the threads' own sums, slots: (group, taps, items).
__device__ static void add_weight_gradient(const trunk_stage &stage, const trunk_divisors &by, const float *input,
                                           const float *gradient, float *slots)
{
    if (stage.sums.taps == 5 && stage.sums.group == 4)
        add_weight_gradient_by<5, 4>(stage, by, input, gradient, slots);
    else if (stage.sums.taps == 5)
        add_weight_gradient_by<5, 2>(stage, by, input, gradient, slots);
    else if (stage.sums.taps == 3 && stage.sums.group == 4)
        add_weight_gradient_by<3, 4>(stage, by, input, gradient, slots);
    else if (stage.sums.taps == 3)
        add_weight_gradient_by<3, 2>(stage, by, input, gradient, slots);
    else if (stage.sums.group == 4)
        add_weight_gradient_by<1, 4>(stage, by, input, gradient, slots);
    else
        add_weight_gradient_by<1, 2>(stage, by, input, gradient, slots);
}

// The sum of one weight over the threads that have it, in their order. weight: number in (k, c, r, r)
__device__ static float sum_of_slots(const trunk_stage &stage, const trunk_divisors &by, const float *slots, int weight)
{
    const trunk_sums &sums = stage.sums;
    unsigned tap, c, channel, column;
    const unsigned k = heddle_divide(heddle_divide(weight, by.filter, &tap), by.c, &c);
    const unsigned group = heddle_divide(k, by.sum_group, &channel), row = heddle_divide(tap, by.taps, &column);
    const float *from = slots + (channel * sums.taps + column) * sums.items +
                        ((group * stage.size.c + c) * sums.rows + row) * sums.splits;
    float sum = 0;
    for (int split = 0; split < sums.splits; split++)
        sum += from[split];
    return sum;
}
