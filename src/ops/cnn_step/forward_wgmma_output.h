// The epilogue of conv2 in forward_wgmma.h: rounds and stores its output, finds the winner of every pooling window, and
// computes the sums for batchnorm 2's statistics.
//
// In the accumulators a thread's pixels are adjacent, but in memory channels are: stmatrix transposes 8 by 8 of them
// while storing to shared memory, from where TMA, or whole warps, store them in the order of memory.
//
// Batchnorm 2 is not known yet, but which value of a window will win is: the largest, or the smallest if gamma is
// negative, or the first if it is zero. So hidden.h need not read the other three.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/forward_wgmma_products.h"
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

// Floats, `four` = [channel][pixel], are stored directly: the eight lanes that have the same pixels fill a sector.
CNN_DEVICE void cnn_wgmma_store(float *to, const float four[4], int pixels)
{
    const int lane = threadIdx.x % 32, pixel = lane % 4 * 2;
    if (pixel < pixels)
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[(pixel + i % 2) * CNN_CHANNELS2 + i / 2 * 8 + lane / 4] = four[i];
}

// --- winners ---------------------------------------------------------------------------------------------------------

// The factors of a thread's two channels before the comparison: gamma's sign, 1, -1 or 0.
struct cnn_wgmma_sign {
    float factor[2];
};
CNN_DEVICE cnn_wgmma_sign cnn_wgmma_signs(float gamma_first, float gamma_second)
{
    const float gamma[2] = {gamma_first, gamma_second};
    cnn_wgmma_sign sign;
#pragma unroll
    for (int i = 0; i < 2; i++)
        sign.factor[i] = gamma[i] == 0.0f ? 0.0f : copysignf(1.0f, gamma[i]);
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

// Multiplies each two. Integer instructions could flip signs as well, but they are the scarce ones.
template <typename Value> CNN_DEVICE uint32_t cnn_wgmma_times(uint32_t a, uint32_t b)
{
    typedef typename cnn_wgmma_two<Value>::type two;
    const two product = __hmul2(*(const two *)&a, *(const two *)&b);
    return *(const uint32_t *)&product;
}

// Two windows of one channel: top and bottom are pairs of pixels of the first window and of the second; `factor` is the
// channel's, twice. The winners as a pair, and which they were.
template <typename Value>
CNN_DEVICE uint32_t cnn_wgmma_winners(const uint32_t top[2], const uint32_t bottom[2], uint32_t factor, uint32_t *codes)
{
    const int low_halves = 0x5410, high_halves = 0x7632;
    uint32_t column[2], lower[2], right;
#pragma unroll
    for (int i = 0; i < 2; i++)
        column[i] = cnn_wgmma_larger<Value>(cnn_wgmma_times<Value>(top[i], factor),
                                            cnn_wgmma_times<Value>(bottom[i], factor), &lower[i]);
    const uint32_t best = cnn_wgmma_larger<Value>(__byte_perm(column[0], column[1], low_halves),
                                                  __byte_perm(column[0], column[1], high_halves), &right);
    const uint32_t lower_left = __byte_perm(lower[0], lower[1], low_halves);
    const uint32_t lower_right = __byte_perm(lower[0], lower[1], high_halves);
    const uint32_t down = (lower_right & right) | (lower_left & ~right);
    *codes = (right & 0x00010001u) | (down & 0x00020002u);
    return cnn_wgmma_times<Value>(best, factor);
}

// --- statistics ------------------------------------------------------------------------------------------------------

// A thread's sums of its two channels.
struct cnn_wgmma_totals {
    float sum[2][2], square[2][2]; // [side][channel]
};

// Adds a thread's outputs of one side, four = [channel][pixel]. Pixels of the second side that are outside may be
// added, too: they are excluded at the end.
CNN_DEVICE void cnn_wgmma_add(cnn_wgmma_totals *totals, int side, const float four[4], bool inside = true)
{
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float left = inside ? four[2 * j] : 0, right = inside ? four[2 * j + 1] : 0;
        totals->sum[side][j] += left + right;
        totals->square[side][j] = fmaf(left, left, fmaf(right, right, totals->square[side][j]));
    }
}

// The sums of the two multiplying parts, added in a fixed order.
template <int Parts, typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_statistics(const Arguments &arguments, Shared *shared, int part, cnn_wgmma_totals *own)
{
    float(*totals)[2 * CNN_CHANNELS2] = (float(*)[2 * CNN_CHANNELS2]) shared->sums; // [part][kind, channel]
    const int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const bool inside = threadIdx.x % 4 != 3; // of the second side, the last two pixels are not
        float sum = own->sum[0][i] + (inside ? own->sum[1][i] : 0);
        float square = own->square[0][i] + (inside ? own->square[1][i] : 0);
#pragma unroll
        for (int distance = 1; distance < 4; distance *= 2) { // the four lanes that have the same channels
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            square += __shfl_xor_sync(0xffffffffu, square, distance);
        }
        if (threadIdx.x % 4 == 0) {
            totals[part][row + 8 * i] = sum;
            totals[part][CNN_CHANNELS2 + row + 8 * i] = square;
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

// Where 16-bit results wait to be stored: conv2's output in TMA's layout, a row of 128 bytes per pixel, 16-byte chunk c
// of pixel p at chunk c ^ p % 8; winners and codes, 16 bits each, a row per window, with a pitch that puts eight rows
// in different banks. The last two of the 16 pixels of an image's row are outside: they are written where the next row
// begins and overwritten by it, so that the last row needs some extra room. The same holds for windows.
enum {
    CNN_LEAVE_PIXELS = (CNN_WGMMA_UPPER * CNN_SIDE1 + 2 + 7) / 8 * 8,
    CNN_LEAVE_WINDOWS = CNN_WGMMA_UPPER / 2 * CNN_SIDE2 + 1,
    CNN_LEAVE_PITCH = CNN_CHANNELS2 + 8,
};
template <typename Convolution> struct cnn_wgmma_stage {
    __align__(HOPPER_ROWS_BYTES) Convolution output[CNN_LEAVE_PIXELS * CNN_CHANNELS2];
    __align__(16) Convolution winner[CNN_LEAVE_WINDOWS * CNN_LEAVE_PITCH];
    __align__(16) uint16_t code[CNN_LEAVE_WINDOWS * CNN_LEAVE_PITCH];
};
template <> struct cnn_wgmma_stage<float> { // stored from registers
};

// As stmatrix_x4, but the columns of each matrix become rows.
CNN_DEVICE void cnn_wgmma_turn_x4(uint32_t shared, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(r0),
                 "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}

// Stores a thread's part of Rows rows of an image to the stage.
template <int Rows, typename Convolution>
CNN_DEVICE void cnn_wgmma_fill(cnn_wgmma_stage<Convolution> *stage, const float (&sum)[Rows * 8],
                               const cnn_wgmma_sign &sign, cnn_wgmma_totals *totals)
{
    // Lane i names row i % 8 of matrix i / 8: of outputs, these are both halves of the warp's channels of eight pixels,
    // and then of the six others; of windows, the channels of winners and then of codes, window 0, 4, 1, 5, ...
    enum { PERIOD = 4, BYTES = CNN_CHANNELS2 * sizeof(Convolution) }; // rows after which pixels are in step again
    const int lane = threadIdx.x % 32, chunk = threadIdx.x / 32 % 4 * 2 + lane / 8 % 2,
              pixel = lane / 16 * 8 + lane % 8;
    const int window = lane % 8 / 2 + lane % 2 * 4;
    uint32_t to[PERIOD];
#pragma unroll
    for (int i = 0; i < PERIOD; i++)
        to[i] = hopper_shared(stage->output) + (i * CNN_SIDE1 + pixel) * BYTES +
                (chunk ^ (i * CNN_SIDE1 + pixel) % 8) * CNN_WGMMA_CHUNK;
    const uint32_t to_window = (lane < 16 ? hopper_shared(stage->winner) : hopper_shared(stage->code)) +
                               (window * CNN_LEAVE_PITCH + chunk * 8) * sizeof(Convolution);
#pragma unroll
    for (int row = 0; row < Rows; row += 2) {
        uint32_t pair[2][2][2]; // [channel][top, bottom][side]
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int side = 0; side < 2; side++) { // eight pixels, then six
                const float *four = sum + 4 * (2 * (row + i) + side);
                pair[0][i][side] = cnn_keep_pair(Convolution(), four[0], four[1]);
                pair[1][i][side] = cnn_keep_pair(Convolution(), four[2], four[3]);
                cnn_wgmma_add(totals, side, four);
            }
            cnn_wgmma_turn_x4(to[(row + i) % PERIOD] + (row + i) / PERIOD * PERIOD * CNN_SIDE1 * BYTES, pair[0][i][0],
                              pair[1][i][0], pair[0][i][1], pair[1][i][1]);
        }
        uint32_t winner[2], codes[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            winner[i] = cnn_wgmma_winners<Convolution>(
                pair[i][0], pair[i][1], cnn_pair(Convolution(), sign.factor[i], sign.factor[i]), &codes[i]);
        cnn_wgmma_turn_x4(to_window + row / 2 * CNN_SIDE2 * CNN_LEAVE_PITCH * sizeof(Convolution), winner[0], winner[1],
                          codes[0], codes[1]);
    }
}

// Stores conv2's output from the stage to memory, by the threads of one part, if TMA has no map of it.
template <int Rows, typename Convolution>
CNN_DEVICE void cnn_wgmma_leave_output(Convolution *to, const cnn_wgmma_stage<Convolution> *stage)
{
    enum { EIGHTS = CNN_CHANNELS2 / 8 };
#pragma unroll
    for (int i = threadIdx.x % HOPPER_WARPGROUP; i < Rows * CNN_SIDE1 * EIGHTS; i += HOPPER_WARPGROUP)
        *(uint4 *)(to + i * 8) =
            *(const uint4 *)(stage->output + i / EIGHTS * CNN_CHANNELS2 + (i % EIGHTS ^ i / EIGHTS % 8) * 8);
}

// From the stage to memory: Rows rows of image `image`, from row `first` on, by the threads of one part; `map` NULL:
// without the copy engine.
template <int Rows, typename Arguments, typename Convolution>
CNN_DEVICE void cnn_wgmma_leave(const Arguments &arguments, const CUtensorMap *map,
                                const cnn_wgmma_stage<Convolution> *stage, int image, int first)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, low_bytes = 0x6420;
    if (!map)
        cnn_wgmma_leave_output<Rows>(
            arguments.workspace.convolution2 + ((size_t)image * CNN_SIDE1 + first) * CNN_SIDE1 * CNN_CHANNELS2, stage);
    else if (thread == 0) {
        tma_store(map, stage->output, 0, image * CNN_PIXELS1 + first * CNN_SIDE1);
        tma_store_commit();
    }
    enum { WINDOWS = Rows / 2 * CNN_SIDE2, EIGHTS = CNN_CHANNELS2 / 8, SIXTEENS = CNN_CHANNELS2 / 16 };
    const size_t at = ((size_t)image * CNN_PIXELS2 + first / 2 * CNN_SIDE2) * CNN_CHANNELS2;
#pragma unroll
    for (int i = thread; i < WINDOWS * EIGHTS; i += HOPPER_WARPGROUP)
        *(uint4 *)(arguments.workspace.winner2 + at + i * 8) =
            *(const uint4 *)(stage->winner + i / EIGHTS * CNN_LEAVE_PITCH + i % EIGHTS * 8);
    static_assert(WINDOWS * SIXTEENS <= HOPPER_WARPGROUP, "one turn");
    if (thread < WINDOWS * SIXTEENS) {
        const uint4 *from = (const uint4 *)(stage->code + thread / SIXTEENS * CNN_LEAVE_PITCH + thread % SIXTEENS * 16);
        const uint4 one = from[0], two = from[1];
        *(uint4 *)(arguments.workspace.code2 + at + thread * 16) =
            make_uint4(__byte_perm(one.x, one.y, low_bytes), __byte_perm(one.z, one.w, low_bytes),
                       __byte_perm(two.x, two.y, low_bytes), __byte_perm(two.z, two.w, low_bytes));
    }
}

// Waits until TMA has stored everything that this thread gave it: shared memory must stay valid until then.
CNN_DEVICE void cnn_wgmma_left()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Rows rows of an image, from row `first` on: rounded, summed, and stored. `name` is a barrier of the part's threads.
template <int Rows, typename Arguments, typename Convolution>
CNN_DEVICE void cnn_wgmma_finish(const Arguments &arguments, const CUtensorMap *map,
                                 cnn_wgmma_stage<Convolution> *stage, int name, int image, int first,
                                 const float (&sum)[Rows * 8], const cnn_wgmma_sign &sign, cnn_wgmma_totals *totals)
{
    if (map && threadIdx.x % HOPPER_WARPGROUP == 0)
        tma_store_wait_read<0>();
    warpgroup_sync(name); // the stage has been read
    cnn_wgmma_fill<Rows>(stage, sum, sign, totals);
    tma_fence_written();
    warpgroup_sync(name);
    cnn_wgmma_leave<Rows>(arguments, map, stage, image, first);
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

// The same for floats. Only the codes are transposed, with one byte in each of eight lanes.
template <int Rows, typename Arguments>
CNN_DEVICE void cnn_wgmma_finish(const Arguments &arguments, const CUtensorMap *, cnn_wgmma_stage<float> *, int,
                                 int image, int first, const float (&sum)[Rows * 8], const cnn_wgmma_sign &sign,
                                 cnn_wgmma_totals *totals)
{
    const int lane = threadIdx.x % 32, channel = threadIdx.x / 32 % 4 * 16;
    float *to =
        arguments.workspace.convolution2 + ((size_t)image * CNN_SIDE1 + first) * CNN_SIDE1 * CNN_CHANNELS2 + channel;
    const size_t at = ((size_t)image * CNN_SIDE2 + first / 2) * CNN_SIDE2 * CNN_CHANNELS2 + channel;
#pragma unroll
    for (int row = 0; row < Rows / 2; row++) {
        uint32_t codes[2] = {0, 0}; // [channel] of pairs of windows
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const int pixels = side ? CNN_SIDE1 - 8 : 8, window = row * CNN_SIDE2 + side * 4 + lane % 4;
            const float *top = sum + 4 * (4 * row + side), *bottom = top + 8;
            cnn_wgmma_store(to + (2 * row * CNN_SIDE1 + side * 8) * CNN_CHANNELS2, top, pixels);
            cnn_wgmma_store(to + ((2 * row + 1) * CNN_SIDE1 + side * 8) * CNN_CHANNELS2, bottom, pixels);
            cnn_wgmma_add(totals, 0, top, lane % 4 * 2 < pixels);
            cnn_wgmma_add(totals, 0, bottom, lane % 4 * 2 < pixels);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                uint32_t code;
                const float winner = cnn_wgmma_winner(top + 2 * i, bottom + 2 * i, sign.factor[i], &code);
                codes[i] |= code << 16 * side;
                if (lane % 4 * 2 < pixels)
                    arguments.workspace.winner2[at + window * CNN_CHANNELS2 + i * 8 + lane / 4] = winner;
            }
        }
        const int window = lane / 4 % 2 * 4 + lane / 8, low_bytes = 0x0020; // two windows of a lane are neighbours here
        uint8_t *to_code = arguments.workspace.code2 + at + (row * CNN_SIDE2 + window) * CNN_CHANNELS2 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint32_t two = __byte_perm(movmatrix_transposed(codes[i]), 0, low_bytes);
            if (window < CNN_SIDE2)
                *(uint16_t *)(to_code + i * 8) = (uint16_t)two;
        }
    }
}
