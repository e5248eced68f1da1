// The layout of shared memory in backward_wgmma.h's blocks, and the scale factors of floats.
//
// wgmma reads its operands from shared memory in chunks of 16 bytes, 8 channels of 16 bits: a tile has the first chunk
// of all pixels, then the second. The next pixel is 16 bytes further on, whatever the tap.
//
// If the arithmetic has more than 16 bits, its floats are still multiplied as halves: half has as many digits as tf32,
// and two halves as many as two tf32. What half lacks is range, so each operand is multiplied by a power of two, and
// the sums are divided by it at the end. The powers are chosen so that nothing overflows (cnn_half_scale), except for
// conv2's weight in forward: one constant for all (prepare.h), which weights of 64 and more exceed.
#pragma once

#include "ops/cnn_step/backward_stage.h"
#include "ops/cnn_step/hidden_backward.h"
#include "ops/cuda/hopper.h"

enum {
    CNN_HOPPER_TAPS = 3,                                   // stacked in one product of the data gradient
    CNN_HOPPER_ROWS = CNN_HOPPER_TAPS * CNN_CHANNELS1,     // of its weight
    CNN_HOPPER_CHUNK = 8,                                  // channels
    CNN_HOPPER_CHUNKS1 = CNN_CHANNELS1 / CNN_HOPPER_CHUNK, // of a pixel of pooled1
    CNN_HOPPER_CHUNKS2 = CNN_CHANNELS2 / CNN_HOPPER_CHUNK, // of a pixel of conv2's output

    // Pixels of the image in the layout of conv1's sums by wgmma: [row of windows][half a row][offset][8 windows].
    // Offset 4 y + x has pixel (y, x) of each window with its border; then come ones, and zeros up to a multiple of 8.
    CNN_HOPPER_OFFSETS = 24,
    CNN_HOPPER_ONES = 16,
    CNN_HOPPER_PIXEL_ROW = 2 * CNN_HOPPER_OFFSETS * CNN_PART,
    CNN_HOPPER_PIXEL_WORDS = 5,                  // of 4 pixels, that a thread takes of half a row
    CNN_HOPPER_PIXEL_THREADS = CNN_SIDE * 2 * 2, // rows, halves, even and odd pixels
};

// The gradient of pooled1, of products of scaled halves, is a half again: of 576 products below 2^15 * 2^15.
#define CNN_HOPPER_STEM_SCALE 0x1p-24f

// The type of product operands, the number of parts, and whether they are scaled. `grads`: tiles of conv2's output
// gradient; with only one, the stage warps keep the next in their registers. `stem_tiles`: conv1's sums are products of
// wgmma, with this many tiles of code1 and pixels. Registers of each role, 512 together, or 504 with three roles.
template <typename Arithmetic> struct cnn_hopper_kind {
    typedef typename Arithmetic::operand element;
    static const int parts = 1, scaled = 0, grads = 2, stem_tiles = 2;
    static const int weight_registers = 176, data_registers = 136, stage_registers = 120, stem_registers = 80;
};
template <> struct cnn_hopper_kind<cnn_tf32> {
    typedef __half element;
    static const int parts = 1, scaled = 1, grads = 2, stem_tiles = 2;
    static const int weight_registers = 176, data_registers = 136, stage_registers = 120, stem_registers = 80;
};
template <> struct cnn_hopper_kind<cnn_tf32x3> {
    typedef __half element;
    static const int parts = 2, scaled = 1, grads = 1, stem_tiles = 0;
    static const int weight_registers = 192, data_registers = 168, stage_registers = 144, stem_registers = 0;
};

// The arithmetic that rounds to an element.
template <typename Element> struct cnn_hopper_arithmetic {
    typedef cnn_fp16 type;
};
template <> struct cnn_hopper_arithmetic<__nv_bfloat16> {
    typedef cnn_bf16 type;
};

// Where everything lies in shared memory, in bytes.
template <typename Arithmetic> struct cnn_hopper_tiles {
    typedef cnn_hopper_kind<Arithmetic> kind;
    enum : int {
        TMA_ALIGNMENT = 128, // of what the copy engine writes
        // The gradient has no border above: row y begins at pixel 16 y. The distance between chunks is an odd number of
        // 16 bytes, so that the eight chunks of a pixel are in different banks.
        GRAD_CHUNK = (CNN_TILE_PIXELS + 7) * CNN_PART,
        GRAD_PART = CNN_HOPPER_CHUNKS2 * GRAD_CHUNK,
        GRAD = kind::parts * GRAD_PART,
        // pooled1 is stored row by row, the four chunks of a row one after the other, followed by the next row's. So
        // the chunks of three rows are evenly spaced, and one product takes the taps above, at and below. A tap to the
        // right reaches two pixels beyond a row's 16: the next chunk's, which are multiplied by a gradient of zero. TMA
        // loads it with its borders. If the stage warps load it, a pixel between the chunks avoids bank conflicts.
        POOLED_STRIP_PIXELS = CNN_TILE_SIDE + (kind::stem_tiles ? 0 : 1),
        POOLED_STRIP = POOLED_STRIP_PIXELS * CNN_PART,
        POOLED_ROW = CNN_HOPPER_CHUNKS1 * POOLED_STRIP,
        POOLED_BYTES = CNN_TILE_SIDE * POOLED_ROW,
        POOLED_PART = POOLED_BYTES + (kind::stem_tiles ? TMA_ALIGNMENT : (int)CNN_PART),
        POOLED = kind::parts * POOLED_PART,
        // code1, if TMA loads it: the first 16 channels of all pixels, then the others; rows are read 16 pixels long,
        // two beyond the last.
        CODES_GROUP = CNN_PIXELS1 * CNN_PART,
        CODES_BYTES = 2 * CODES_GROUP,
        CODES = kind::stem_tiles ? CODES_BYTES + TMA_ALIGNMENT : (int)cnn_backward_tiles<Arithmetic>::CODES,
        STEM = kind::stem_tiles ? CODES + CNN_SIDE1 * CNN_HOPPER_PIXEL_ROW : (int)cnn_backward_tiles<Arithmetic>::STEM,
        STEMS = kind::stem_tiles ? kind::stem_tiles : kind::grads,
        DZ_CHUNK = CNN_TILE_PIXELS * CNN_PART, // of the gradient of pooled1, with two rows that are never read
        DZ = CNN_HOPPER_CHUNKS1 * DZ_CHUNK,
        // The distance between chunks is an odd number of 16 bytes here, too: threads store to all chunks of a row at
        // once.
        WEIGHT_CHUNK = (CNN_HOPPER_ROWS + 1) * CNN_PART,
        WEIGHT_PART = 3 * CNN_HOPPER_CHUNKS2 * WEIGHT_CHUNK,
        // In both directions between four warps, 8 sums per lane; twice, if one is read while the next is written.
        EXCHANGE = (kind::stem_tiles ? 2 : 1) * 2 * 3 * 32 * 8 * (int)sizeof(float),

        GRAD_AT = 0,
        POOLED_AT = GRAD_AT + kind::grads * GRAD,
        STEM_AT = POOLED_AT + 2 * POOLED,
        DZ_AT = STEM_AT + STEMS * STEM,
        WEIGHT_AT = DZ_AT + (kind::stem_tiles ? 2 * DZ : 0),
        EXCHANGE_AT = WEIGHT_AT + kind::parts * WEIGHT_PART,
        COEFFICIENTS_AT = EXCHANGE_AT + EXCHANGE,
        BARRIERS_AT = COEFFICIENTS_AT + 3 * CNN_CHANNELS2 * sizeof(float),
        SCRATCH_AT = BARRIERS_AT + 10 * sizeof(uint64_t),
        BYTES = SCRATCH_AT + 32 * sizeof(float),
        GROUPS = kind::stem_tiles ? 4 : 3,
        THREADS = GROUPS * HOPPER_WARPGROUP,
        REGISTERS = 65536 / THREADS / 8 * 8, // a thread's, before the roles exchange some
    };
    static_assert(BYTES <= 227 * 1024, "more than a block can have");
    static_assert(!kind::stem_tiles || (POOLED_AT % TMA_ALIGNMENT == 0 && POOLED % TMA_ALIGNMENT == 0 &&
                                        STEM_AT % TMA_ALIGNMENT == 0 && STEM % TMA_ALIGNMENT == 0),
                  "aligned for the copy engine");
    static_assert(POOLED_AT % 16 == 0 && STEM_AT % 16 == 0 && WEIGHT_AT % 16 == 0 && EXCHANGE_AT % 16 == 0, "aligned");
};

// --- powers of two ---------------------------------------------------------------------------------------------------

// The largest number of a warp's.
CNN_DEVICE float cnn_hopper_warp_most(float value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

// Of pooled1, relu of gamma * normalised + beta: none of `count` values is further than sqrt(count) standard deviations
// from their mean.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE float cnn_hopper_pooled_scale(const Arguments &arguments, int lane)
{
    if (!cnn_hopper_kind<Arithmetic>::scaled)
        return 1.0f;
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS);
    return cnn_half_scale(cnn_hopper_warp_most(fabsf(arguments.operands.parameters.gamma1[lane]) * furthest +
                                               fabsf(arguments.operands.parameters.beta1[lane])));
}

// Of conv2's output gradient, gamma inverse_std (dz - mean(dz) - u mean(dz u)): mean(dz u) is at most the largest dz,
// and u, the normalised value, at most as far from 0 as above. Twice that leaves room for rounding.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE float cnn_hopper_grad_scale(const Arguments &arguments, int lane)
{
    if (!cnn_hopper_kind<Arithmetic>::scaled)
        return 1.0f;
    const float most = __uint_as_float(arguments.workspace.counters[CNN_MOST_GRAD]);
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS1);
    float slope = 0.0f;
#pragma unroll
    for (int channel = lane; channel < CNN_CHANNELS2; channel += 32)
        slope = fmaxf(slope, fabsf(arguments.operands.parameters.gamma2[channel] *
                                   arguments.workspace.statistics2->inverse_std[channel]));
    return cnn_half_scale(2.0f * most * (2.0f + furthest) * cnn_hopper_warp_most(slope));
}
