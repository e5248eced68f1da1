// rows_trunk: convolutions of one image in shared memory, and the gradients of their weights, by the threads of a
// block. Every thread has a tile of results in registers; what it multiplies comes in vectors of four floats.
#pragma once

#include "ops/rows_trunk/layout.h"

// Adds one line of the filter to a strip of results of G channels. line: the input from the strip's first column on;
// weights: (R, G padded)
template <int R, int G>
__device__ static __forceinline__ void add_filter_line(const float *line, const float *weights, int shift,
                                                       float (&sum)[G][TRUNK_STRIP])
{
    enum { ROOM = G > 4 ? 8 : 4, COLUMNS = R + TRUNK_STRIP - 1, VECTORS = (COLUMNS + 3 + 3) / 4 };
    float x[4 * VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        if (4 * i < COLUMNS || 4 * i < COLUMNS + shift) {
            const float4 four = ((const float4 *)line)[i];
            x[4 * i] = four.x, x[4 * i + 1] = four.y, x[4 * i + 2] = four.z, x[4 * i + 3] = four.w;
        }
    if (shift & 1)
#pragma unroll
        for (int i = 0; i < COLUMNS + 2; i++)
            x[i] = x[i + 1];
    if (shift & 2)
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            x[i] = x[i + 2];
#pragma unroll
    for (int s = 0; s < R; s++) {
        float w[ROOM];
#pragma unroll
        for (int i = 0; i < ROOM; i += 4) {
            const float4 four = *(const float4 *)(weights + s * ROOM + i);
            w[i] = four.x, w[i + 1] = four.y, w[i + 2] = four.z, w[i + 3] = four.w;
        }
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int t = 0; t < TRUNK_STRIP; t++)
                sum[g][t] += w[g] * x[s + t];
    }
}

// The same for a filter whose size is not known at compile time, tap by tap.
__device__ static __forceinline__ void add_filter_line(const float *line, const float *weights, int shift, int r,
                                                       float (&sum)[4][TRUNK_STRIP])
{
    for (int s = 0; s < r; s++) {
        const float4 w = *(const float4 *)(weights + 4 * s);
#pragma unroll
        for (int t = 0; t < TRUNK_STRIP; t++) {
            const float x = line[shift + s + t];
            sum[0][t] += w.x * x, sum[1][t] += w.y * x, sum[2][t] += w.z * x, sum[3][t] += w.w * x;
        }
    }
}

// R: side of the filter, 0: conv.r; G: channels per thread
template <int R, int G>
__device__ static void convolve_by(const trunk_conv &conv, const float *input, const float *weights, float *output)
{
    enum { ROOM = G > 4 ? 8 : 4 };
    const int r = R > 0 ? R : conv.r;
    for (int item = threadIdx.x; item < conv.items; item += TRUNK_THREADS) {
        const int strip = item % conv.strips, y = item / conv.strips % conv.lines;
        const int rest = item / (conv.strips * conv.lines), group = rest % conv.groups, split = rest / conv.groups;
        const int first = split * conv.share, end = min(conv.c, first + conv.share);
        const float *line = input + first * conv.plane + y * conv.pitch + TRUNK_STRIP * strip;
        const float *w = weights + (group * conv.c + first) * r * r * ROOM;
        float sum[G][TRUNK_STRIP] = {};
#pragma unroll 1
        for (int c = first; c < end; c++, line += conv.plane)
#pragma unroll
            for (int i = 0; i < r; i++, w += r * ROOM)
                if constexpr (R > 0)
                    add_filter_line<R, G>(line + i * conv.pitch, w, conv.shift, sum);
                else
                    add_filter_line(line + i * conv.pitch, w, conv.shift, r, sum);
        float *to =
            output + split * conv.out_share + group * G * conv.out_plane + y * conv.out_pitch + TRUNK_STRIP * strip;
#pragma unroll
        for (int g = 0; g < G; g++)
            if (group * G + g < conv.k)
                *(float4 *)(to + g * conv.out_plane) = make_float4(sum[g][0], sum[g][1], sum[g][2], sum[g][3]);
    }
}

// output: (splits, k, lines, strips), each split a share of the sums
__device__ static void convolve(const trunk_conv &conv, const float *input, const float *weights, float *output)
{
    if (conv.r == 5 && conv.group == 8)
        convolve_by<5, 8>(conv, input, weights, output);
    else if (conv.r == 5 && conv.group == 6)
        convolve_by<5, 6>(conv, input, weights, output);
    else if (conv.r == 5)
        convolve_by<5, 4>(conv, input, weights, output);
    else if (conv.r == 3 && conv.group == 8)
        convolve_by<3, 8>(conv, input, weights, output);
    else if (conv.r == 3 && conv.group == 6)
        convolve_by<3, 6>(conv, input, weights, output);
    else if (conv.r == 3)
        convolve_by<3, 4>(conv, input, weights, output);
    else
        convolve_by<0, 4>(conv, input, weights, output);
}

// Adds a line of results to a thread's taps. x: the input from the first tap's column on; d: the gradient of the line,
// the next channel's `plane` floats on
template <int S, int G>
__device__ static __forceinline__ void add_gradient_line(const float *x_line, const float *d_line, int plane,
                                                         int strips, float (&sum)[G][S])
{
    enum { COLUMNS = S + TRUNK_STRIP - 1, KEPT = (COLUMNS + 3) / 4 * 4 - TRUNK_STRIP };
    float x[KEPT + TRUNK_STRIP];
#pragma unroll
    for (int i = 0; i < KEPT; i += 4) {
        const float4 four = *(const float4 *)(x_line + i);
        x[i] = four.x, x[i + 1] = four.y, x[i + 2] = four.z, x[i + 3] = four.w;
    }
#pragma unroll 1
    for (int strip = 0; strip < strips; strip++, x_line += TRUNK_STRIP, d_line += TRUNK_STRIP) {
        if (S == 1) { // off alignment, as the tap is
#pragma unroll
            for (int t = 0; t < TRUNK_STRIP; t++)
                x[t] = x_line[t];
        } else {
            const float4 four = *(const float4 *)(x_line + KEPT);
            x[KEPT] = four.x, x[KEPT + 1] = four.y, x[KEPT + 2] = four.z, x[KEPT + 3] = four.w;
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            const float4 d = *(const float4 *)(d_line + g * plane);
#pragma unroll
            for (int s = 0; s < S; s++) {
                sum[g][s] += d.x * x[s];
                sum[g][s] += d.y * x[s + 1];
                sum[g][s] += d.z * x[s + 2];
                sum[g][s] += d.w * x[s + 3];
            }
        }
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            x[i] = x[i + TRUNK_STRIP];
    }
}

// S: taps per thread, G: channels
template <int S, int G>
__device__ static void add_weight_gradient_by(const trunk_stage &stage, const float *input, const float *gradient,
                                              float *slots)
{
    const trunk_sums &sums = stage.sums;
    const int across = stage.of.r / S; // threads that share a line of the filter
    for (int item = threadIdx.x; item < sums.items; item += TRUNK_THREADS) {
        const int split = item % sums.splits, row = item / sums.splits % sums.rows;
        const int rest = item / (sums.splits * sums.rows), c = rest % stage.size.c, group = rest / stage.size.c;
        const float *x = input + c * stage.forward.plane + row / across * stage.forward.pitch + row % across;
        const float *d = gradient + group * G * stage.grad_plane + stage.halo * stage.grad_pitch + stage.left;
        float sum[G][S] = {};
#pragma unroll 1
        for (int y = split; y < stage.size.out_h; y += sums.splits)
            add_gradient_line<S, G>(x + y * stage.forward.pitch, d + y * stage.grad_pitch, stage.grad_plane,
                                    stage.forward.strips, sum);
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int s = 0; s < S; s++)
                slots[(g * S + s) * sums.items + item] += sum[g][s];
    }
}

// Adds an image's gradient of the weight to the threads' own sums, slots: (group, taps, items).
__device__ static void add_weight_gradient(const trunk_stage &stage, const float *input, const float *gradient,
                                           float *slots)
{
    if (stage.sums.taps == 5 && stage.sums.group == 4)
        add_weight_gradient_by<5, 4>(stage, input, gradient, slots);
    else if (stage.sums.taps == 5)
        add_weight_gradient_by<5, 3>(stage, input, gradient, slots);
    else if (stage.sums.taps == 3 && stage.sums.group == 4)
        add_weight_gradient_by<3, 4>(stage, input, gradient, slots);
    else if (stage.sums.taps == 3)
        add_weight_gradient_by<3, 3>(stage, input, gradient, slots);
    else
        add_weight_gradient_by<1, 4>(stage, input, gradient, slots);
}

// The sum of one weight over the threads that have it, in their order. weight: number in (k, c, r, r)
__device__ static float sum_of_slots(const trunk_stage &stage, const float *slots, int weight)
{
    const trunk_sums &sums = stage.sums;
    const int taps = stage.of.r * stage.of.r, tap = weight % taps, c = weight / taps % stage.size.c;
    const int k = weight / (taps * stage.size.c), row = tap / sums.taps;
    const float *from = slots + (k % sums.group * sums.taps + tap % sums.taps) * sums.items +
                        ((k / sums.group * stage.size.c + c) * sums.rows + row) * sums.splits;
    float sum = 0;
    for (int split = 0; split < sums.splits; split++)
        sum += from[split];
    return sum;
}
