// What forward_wgmma.h does with conv2's output: rounds and stores it, finds the winner of every pooling window, and
// adds up the sums that batchnorm 2's statistics follow from.
//
// The accumulators have pixels side by side in a thread, memory wants channels: movmatrix turns 8 by 8 of them, and the
// order of the weight's rows (prepare.h) is such that a thread then has four channels to store.
//
// Batchnorm 2 is not known yet, but which value of a window will win is: the largest, or the smallest where gamma is
// negative, or the first where it is zero. So hidden.h need not read the other three.
#ifndef HEDDLE_OPS_CNN_STEP_FORWARD_WGMMA_OUTPUT_H
#define HEDDLE_OPS_CNN_STEP_FORWARD_WGMMA_OUTPUT_H

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/hopper.h"

// Two of conv2's outputs as they are kept (see cnn_keep).
CNN_DEVICE uint32_t cnn_keep_pair(__half, float first, float second)
{
    const __half2 most = __float2half2_rn(65504.0f);
    const __half2 two = __hmax2_nan(__hmin2_nan(__floats2half2_rn(first, second), most), __hneg2(most));
    return *(const uint32_t *)&two;
}
CNN_DEVICE uint32_t cnn_keep_pair(__nv_bfloat16, float first, float second)
{
    return cnn_pair(__nv_bfloat16(), first, second);
}

// 8 by 8 elements of 16 bits, a lane's two of row lane / 4 before and after.
CNN_DEVICE uint32_t cnn_turn(uint32_t matrix)
{
    uint32_t turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(matrix));
    return turned;
}

// Eight pixels by 16 channels of conv2's output, of which a thread has two of two, in pairs of pixels; `pixels` of them
// are inside. The thread stores four channels of pixel lane / 4.
template <typename Convolution> CNN_DEVICE void cnn_wgmma_store(Convolution *to, const uint32_t pair[2], int pixels)
{
    const int lane = threadIdx.x % 32;
    const uint2 turned = make_uint2(cnn_turn(pair[0]), cnn_turn(pair[1]));
    if (lane / 4 < pixels)
        *(uint2 *)(to + lane / 4 * CNN_CHANNELS2 + lane % 4 * 4) = turned;
}
// Floats, `four` = [channel][pixel], are stored as they lie: the eight lanes that have the same pixels fill a sector.
CNN_DEVICE void cnn_wgmma_store(float *to, const float four[4], int pixels)
{
    const int lane = threadIdx.x % 32, pixel = lane % 4 * 2;
    if (pixel < pixels)
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[(pixel + i % 2) * CNN_CHANNELS2 + i / 2 * 8 + lane / 4] = four[i];
}

// --- winners ---------------------------------------------------------------------------------------------------------

// How a thread compares outputs of its two channels: as (y & keep) ^ flip, masks for two outputs of 16 bits each; or
// as y * factor.
struct cnn_wgmma_sign {
    uint32_t keep[2], flip[2];
    float factor[2];
};
CNN_DEVICE cnn_wgmma_sign cnn_wgmma_signs(float gamma_first, float gamma_second)
{
    const float gamma[2] = {gamma_first, gamma_second};
    cnn_wgmma_sign sign;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        sign.keep[i] = gamma[i] == 0.0f ? 0u : 0xffffffffu;
        sign.flip[i] = gamma[i] < 0.0f ? 0x80008000u : 0u;
        sign.factor[i] = gamma[i] == 0.0f ? 0.0f : copysignf(1.0f, gamma[i]);
    }
    return sign;
}

template <typename Value> struct cnn_wgmma_two;
template <> struct cnn_wgmma_two<__half> {
    typedef __half2 type;
};
template <> struct cnn_wgmma_two<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
};
// The larger of each two values of 16 bits; `second` is all ones where that was the second.
template <typename Value> CNN_DEVICE uint32_t cnn_wgmma_larger(uint32_t a, uint32_t b, uint32_t *second)
{
    typedef typename cnn_wgmma_two<Value>::type two;
    const two best = __hmax2(*(const two *)&a, *(const two *)&b);
    *second = __hgt2_mask(*(const two *)&b, *(const two *)&a);
    return *(const uint32_t *)&best;
}

// One window of each of a thread's two channels: top and bottom are pairs of pixels, [channel]. The winners as a pair,
// the first channel lower, and which they were.
template <typename Value>
CNN_DEVICE uint32_t cnn_wgmma_winner(const uint32_t top[2], const uint32_t bottom[2], const cnn_wgmma_sign &sign,
                                     uint32_t *codes)
{
    const int low_halves = 0x5410, high_halves = 0x7632;
    uint32_t column[2], lower[2], right;
#pragma unroll
    for (int i = 0; i < 2; i++)
        column[i] = cnn_wgmma_larger<Value>((top[i] & sign.keep[i]) ^ sign.flip[i],
                                            (bottom[i] & sign.keep[i]) ^ sign.flip[i], &lower[i]);
    const uint32_t best = cnn_wgmma_larger<Value>(__byte_perm(column[0], column[1], low_halves),
                                                  __byte_perm(column[0], column[1], high_halves), &right);
    const uint32_t lower_left = __byte_perm(lower[0], lower[1], low_halves);
    const uint32_t lower_right = __byte_perm(lower[0], lower[1], high_halves);
    const uint32_t down = (lower_right & right) | (lower_left & ~right);
    *codes = (right & 0x00010001u) | (down & 0x00020002u);
    return best ^ __byte_perm(sign.flip[0], sign.flip[1], low_halves);
}

// A row of windows, of which a thread has two, lane % 4 and four further on: winners and codes, [window] of pairs of
// channels. The thread stores four channels of one window.
template <typename Convolution>
CNN_DEVICE void cnn_wgmma_store_winners(Convolution *to, uint8_t *to_code, const uint32_t winner[2],
                                        const uint32_t codes[2])
{
    const int lane = threadIdx.x % 32,
              window = lane / 4 % 2 * 4 + lane / 8; // two windows of a lane are neighbours here
    const int first_channels = 0x5410, second_channels = 0x7632, low_bytes = 0x6420;
    const uint2 values = make_uint2(cnn_turn(__byte_perm(winner[0], winner[1], first_channels)),
                                    cnn_turn(__byte_perm(winner[0], winner[1], second_channels)));
    const uint32_t bytes = __byte_perm(cnn_turn(__byte_perm(codes[0], codes[1], first_channels)),
                                       cnn_turn(__byte_perm(codes[0], codes[1], second_channels)), low_bytes);
    if (window < CNN_SIDE2) {
        *(uint2 *)(to + window * CNN_CHANNELS2 + lane % 4 * 4) = values;
        *(uint32_t *)(to_code + window * CNN_CHANNELS2 + lane % 4 * 4) = bytes;
    }
}

// --- statistics ------------------------------------------------------------------------------------------------------

// What a thread adds up of its two channels.
struct cnn_wgmma_totals {
    float sum[2], square[2];
};

// Adds a thread's outputs, four = [channel][pixel].
CNN_DEVICE void cnn_wgmma_add(cnn_wgmma_totals *totals, const float four[4], int pixels)
{
    const bool inside = threadIdx.x % 4 * 2 < pixels;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float left = inside ? four[2 * j] : 0, right = inside ? four[2 * j + 1] : 0;
        totals->sum[j] += left + right;
        totals->square[j] = fmaf(left, left, fmaf(right, right, totals->square[j]));
    }
}

// The sums of the two parts that multiply, added in a fixed order.
template <int Parts, typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_statistics(const Arguments &arguments, Shared *shared, int part, cnn_wgmma_totals *own)
{
    float(*totals)[2 * CNN_CHANNELS2] = (float(*)[2 * CNN_CHANNELS2]) shared->sums; // [part][kind, channel]
    const int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int distance = 1; distance < 4; distance *= 2) { // the four lanes that have the same channels
            own->sum[i] += __shfl_xor_sync(0xffffffffu, own->sum[i], distance);
            own->square[i] += __shfl_xor_sync(0xffffffffu, own->square[i], distance);
        }
        if (threadIdx.x % 4 == 0) {
            totals[part][Shared::kind::channel(row + 8 * i)] = own->sum[i];
            totals[part][CNN_CHANNELS2 + Shared::kind::channel(row + 8 * i)] = own->square[i];
        }
    }
    enum { NAME = 5 };
    __barrier_sync_count(NAME, Parts * HOPPER_WARPGROUP);
    float total = 0;
#pragma unroll
    for (int i = 0; part == 0 && i < Parts; i++)
        total += totals[i][threadIdx.x];
    if (part == 0)
        cnn_statistics_leave(arguments, total);
}

// --- rows ------------------------------------------------------------------------------------------------------------

// What a thread has of Rows rows of an image, from pixel `first` of it on, two rows at a time.
template <int Rows, typename Arguments, typename Convolution>
CNN_DEVICE void cnn_wgmma_finish(const Arguments &arguments, Convolution, int image, int first,
                                 const float (&sum)[Rows * 8], const cnn_wgmma_sign &sign, cnn_wgmma_totals *totals)
{
    const int channel = threadIdx.x / 32 % 4 * 16; // the warp's first
    Convolution *to =
        arguments.workspace.convolution2 + ((size_t)image * CNN_PIXELS1 + first) * CNN_CHANNELS2 + channel;
    const size_t at = ((size_t)image * CNN_PIXELS2 + first / 4) * CNN_CHANNELS2 + channel;
#pragma unroll
    for (int row = 0; row < Rows / 2; row++) {
        uint32_t winner[2], codes[2];
#pragma unroll
        for (int side = 0; side < 2; side++) { // eight pixels, then six
            const int pixels = side ? CNN_SIDE1 - 8 : 8;
            uint32_t pair[2][2]; // [top, bottom][channel]
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float *four = sum + 4 * (4 * row + 2 * i + side);
                pair[i][0] = cnn_keep_pair(Convolution(), four[0], four[1]);
                pair[i][1] = cnn_keep_pair(Convolution(), four[2], four[3]);
                cnn_wgmma_store(to + ((2 * row + i) * CNN_SIDE1 + side * 8) * CNN_CHANNELS2, pair[i], pixels);
                cnn_wgmma_add(totals, four, pixels);
            }
            winner[side] = cnn_wgmma_winner<Convolution>(pair[0], pair[1], sign, &codes[side]);
        }
        cnn_wgmma_store_winners(arguments.workspace.winner2 + at + row * CNN_SIDE2 * CNN_CHANNELS2,
                                arguments.workspace.code2 + at + row * CNN_SIDE2 * CNN_CHANNELS2, winner, codes);
    }
}

// A window of one channel of floats: the winner, and which it was. `sign` is gamma's, 1, -1 or 0.
CNN_DEVICE float cnn_wgmma_winner(const float top[2], const float bottom[2], float sign, uint32_t *code)
{
    float best = top[0], rank = top[0] * sign;
    *code = 0;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        const float value = i < 2 ? top[1] : bottom[i - 2];
        if (value * sign > rank)
            best = value, rank = value * sign, *code = i;
    }
    return best;
}

// The same of floats. Channels are not turned but for their codes, where eight lanes have a byte each.
template <int Rows, typename Arguments>
CNN_DEVICE void cnn_wgmma_finish(const Arguments &arguments, float, int image, int first, const float (&sum)[Rows * 8],
                                 const cnn_wgmma_sign &sign, cnn_wgmma_totals *totals)
{
    const int lane = threadIdx.x % 32, channel = threadIdx.x / 32 % 4 * 16;
    float *to = arguments.workspace.convolution2 + ((size_t)image * CNN_PIXELS1 + first) * CNN_CHANNELS2 + channel;
    const size_t at = ((size_t)image * CNN_PIXELS2 + first / 4) * CNN_CHANNELS2 + channel;
#pragma unroll
    for (int row = 0; row < Rows / 2; row++) {
        uint32_t codes[2] = {0, 0}; // [channel] of pairs of windows
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const int pixels = side ? CNN_SIDE1 - 8 : 8, window = row * CNN_SIDE2 + side * 4 + lane % 4;
            const float *top = sum + 4 * (4 * row + side), *bottom = top + 8;
            cnn_wgmma_store(to + (2 * row * CNN_SIDE1 + side * 8) * CNN_CHANNELS2, top, pixels);
            cnn_wgmma_store(to + ((2 * row + 1) * CNN_SIDE1 + side * 8) * CNN_CHANNELS2, bottom, pixels);
            cnn_wgmma_add(totals, top, pixels);
            cnn_wgmma_add(totals, bottom, pixels);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                uint32_t code;
                const float winner = cnn_wgmma_winner(top + 2 * i, bottom + 2 * i, sign.factor[i], &code);
                codes[i] |= code << 16 * side;
                if (lane % 4 * 2 < pixels)
                    arguments.workspace.winner2[at + window * CNN_CHANNELS2 + i * 8 + lane / 4] = winner;
            }
        }
        const int window = lane / 4 % 2 * 4 + lane / 8, low_bytes = 0x0020; // as in cnn_wgmma_store_winners
        uint8_t *to_code = arguments.workspace.code2 + at + (row * CNN_SIDE2 + window) * CNN_CHANNELS2 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint32_t two = __byte_perm(cnn_turn(codes[i]), 0, low_bytes);
            if (window < CNN_SIDE2)
                *(uint16_t *)(to_code + i * 8) = (uint16_t)two;
        }
    }
}

#endif
