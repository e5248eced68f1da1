// conv1 of forward.h: batchnorm 1 folded into its weight, and the convolution with relu and pooling, from bytes to a
// pooled image in shared and in global memory.
//
// conv1 runs on tensor cores. A byte is exact in bfloat16, and so are the weights, folded with batchnorm's scale, when
// they are split into two or three bfloat16 that add up to them. A product takes 16 outputs: two neighbours of eight
// pooling windows. Two products have the windows' four positions in the same places of the accumulators, so that relu,
// pooling and the winner's code are a few comparisons in registers. K is three rows of four pixels, the fourth with
// weight zero: two pixels are one word of shared memory, where the image is stored twice, the second copy shifted by
// one.
#pragma once

#include <type_traits>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"

enum {
    // conv1's image in shared memory: padded to 30 × 30, two pixels as bfloat16 per word; two copies of it, the second
    // starting one pixel further right. Two more rows are ones, which multiply conv1's bias.
    CNN_STEM_PITCH = 15,
    CNN_STEM_ONES = 30 * CNN_STEM_PITCH,
    CNN_STEM_COPY = 32 * CNN_STEM_PITCH,
    CNN_STEM_WORDS = 2 * CNN_STEM_COPY,
    CNN_IMAGE_WORDS = CNN_PIXELS / 4,
    CNN_STEM_TILES = CNN_CHANNELS1 / 8,    // of eight channels, in conv1's products
    CNN_STEM_OUTPUTS = CNN_STEM_TILES * 4, // that a lane has of 16 by 32
};

// bfloat16 parts of a folded weight of conv1, so that they have no fewer bits than the arithmetic's own operands: 8, 16
// or 24. The bias always has 24: its error would be the same in every pixel.
template <typename Arithmetic> struct cnn_stem_parts {
    enum { count = 2 };
};
template <> struct cnn_stem_parts<cnn_bf16> {
    enum { count = 1 };
};
template <> struct cnn_stem_parts<cnn_tf32x3> {
    enum { count = 3 };
};

// A pooled image in shared memory, in chunks of 16 bytes along its channels: the first chunk of all pixels, then the
// second. Neighbouring pixels are then 16 bytes apart, and eight of them cover all banks.
template <typename Operand> struct cnn_tile {
    static const int chunk = 16 / sizeof(Operand); // elements
    // Pixels from one chunk to the next: so that the four lanes that store the 32 channels of one pixel, and those of
    // the next pixel, use different banks.
    static const int plane = sizeof(Operand) == 4 ? CNN_TILE_PIXELS + 7 : CNN_TILE_PIXELS;
    static const int size = CNN_CHANNELS1 * plane;
    static const int pixel = chunk, four = 4 / chunk * plane * chunk, eight = 8 * plane; // distances
};

// A lane's part of conv1's weight: fragments of its products.
template <int Parts> struct cnn_stem_weight {
    uint32_t fragment[Parts][CNN_STEM_TILES][2];
    static constexpr float scale = 1; // of what it makes

    // How cnn_stem_forward multiplies with it: each warp by itself, the windows' upper outputs and their lower ones.
    enum { TOGETHER = 1 };
    __device__ __forceinline__ void multiply(float (&above)[CNN_STEM_OUTPUTS], float (&below)[CNN_STEM_OUTPUTS],
                                             const uint32_t (&a)[4], const uint32_t (&b)[4]) const
    {
        const float zero[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < CNN_STEM_TILES; i++)
#pragma unroll
            for (int part = 0; part < Parts; part++) {
                mma_m16n8k16_bfloat16(above + 4 * i, a, fragment[part][i], part == 0 ? zero : above + 4 * i);
                mma_m16n8k16_bfloat16(below + 4 * i, b, fragment[part][i], part == 0 ? zero : below + 4 * i);
            }
    }
};

// --- conv1's weight --------------------------------------------------------------------------------------------------

// Two halves of the block load what conv1 needs before its first product: some warps read and unpack the first two
// images, a chain of three loads, and then the parameters; the others add the moments.
enum { CNN_UNPACK_THREADS = (CNN_IMAGE_WORDS + 31) / 32 * 32 };

// `thread` of `threads` that do it.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_stem_load_parameters(const Arguments &arguments, Shared *shared, int thread, int threads)
{
    const heddle_cnn_step_parameters &parameters = arguments.operands.parameters;
    for (int i = thread; i < CNN_CHANNELS1 * CNN_TAPS; i += threads)
        shared->stem_weight[i / CNN_TAPS][i % CNN_TAPS] = parameters.conv1_weight[i];
    if (thread < CNN_CHANNELS1) {
        shared->stem_scale[thread] = parameters.gamma1[thread];
        shared->stem_bias[thread] = parameters.beta1[thread];
    }
}

// Parts of the sums of prepare.h's moments, by `thread` of Threads.
template <int Threads> struct cnn_moment_parts {
    enum { PAIRS = CNN_MOMENTS / 2, PARTS = Threads / PAIRS };
};
// Every Parts-th of the rows, from row `part` on: two moments of each.
template <int Pairs, int Parts> CNN_DEVICE ulonglong2 cnn_stem_add_rows(const uint2 *rows, int count, int part)
{
    ulonglong2 sum = make_ulonglong2(0, 0);
    enum { AT_ONCE = 13 }; // in flight together: as many as 128 blocks need, by 288 threads
    for (int first = part; first < count; first += AT_ONCE * Parts) {
        uint2 two[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int row = first + i * Parts;
            two[i] = row < count ? rows[row * Pairs] : make_uint2(0, 0);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            sum.x += two[i].x, sum.y += two[i].y;
    }
    return sum;
}
// Into parts[PARTS][CNN_MOMENTS], in shared memory.
template <int Threads, typename Arguments>
CNN_DEVICE void cnn_stem_add_moments(const Arguments &arguments, void *scratch, int thread)
{
    enum { PAIRS = cnn_moment_parts<Threads>::PAIRS, PARTS = cnn_moment_parts<Threads>::PARTS };
    static_assert(CNN_MOMENTS % 2 == 0, "moments are read two at a time");
    ulonglong2(*parts)[PAIRS] = (ulonglong2(*)[PAIRS])scratch;
    const int pair = thread % PAIRS, part = thread / PAIRS;
    if (part >= PARTS)
        return;
    const int blocks = cnn_moment_blocks(arguments.n);
    const uint2 *moments = (const uint2 *)arguments.workspace.moments + pair;
    ulonglong2 sum = cnn_stem_add_rows<PAIRS, PARTS>(moments, blocks, part);
    if (!cnn_moments_in_32_bits(arguments.n)) {
        const ulonglong2 upper = cnn_stem_add_rows<PAIRS, PARTS>(moments + blocks * PAIRS, blocks, part);
        sum.x += upper.x << 32, sum.y += upper.y << 32;
    }
    parts[part][pair] = sum;
}

// After all threads have synchronised: the sums themselves, into `moments`; `kept` is their place in global memory, or
// NULL.
template <int Threads> CNN_DEVICE void cnn_stem_end_moments(const void *scratch, double *moments, double *kept)
{
    const unsigned long long(*parts)[CNN_MOMENTS] = (const unsigned long long(*)[CNN_MOMENTS])scratch;
    if (threadIdx.x >= CNN_MOMENTS)
        return;
    unsigned long long sum = 0;
#pragma unroll
    for (int i = 0; i < cnn_moment_parts<Threads>::PARTS; i++)
        sum += parts[i][threadIdx.x];
    moments[threadIdx.x] = (double)sum;
    if (kept)
        kept[threadIdx.x] = (double)sum;
}

// A channel of conv1 with batchnorm 1 folded in: the thread's weights, and what all eight know.
struct cnn_stem_channel_folded {
    float own, ninth, bias, mean, inverse_std, variance;
};

// In double: the mean square of an output is a quadratic form in which large numbers cancel. Eight threads per channel,
// in whole warps: each has one tap, and its products with the ninth, which only lane 0 has. `inverse` is one over the
// batch's pixels.
CNN_DEVICE cnn_stem_channel_folded cnn_stem_fold_channel(const float *weight, float gamma, float beta,
                                                         const double *moments, double inverse, double epsilon)
{
    const int lane = threadIdx.x % 8, last = CNN_TAPS - 1;
    const double own = weight[lane], ninth = weight[last];
    double row = 2 * ninth * moments[CNN_MOMENT(lane, last)];
#pragma unroll
    for (int j = 0; j < CNN_TAPS - 1; j++)
        row += weight[j] * moments[j < lane ? CNN_MOMENT(j, lane) : CNN_MOMENT(lane, j)];
    double square = own * row, sum = own * moments[lane];
    if (lane == 0) {
        square += ninth * ninth * moments[CNN_MOMENT(last, last)];
        sum += ninth * moments[last];
    }
#pragma unroll
    for (int distance = 1; distance < 8; distance *= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        square += __shfl_xor_sync(0xffffffffu, square, distance);
    }
    const double white = 1.0 / 255, mean = sum * (inverse * white);
    const double variance = fmax(square * (inverse * white * white) - mean * mean, 0.0);
    const double inverse_std = cnn_inverse_root(variance + epsilon), scale = gamma * inverse_std;
    return {(float)(own * (scale * white)),
            (float)(ninth * (scale * white)),
            (float)(beta - mean * scale),
            (float)mean,
            (float)inverse_std,
            (float)variance};
}

// Folds batchnorm 1 into conv1; every block does it for itself.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_stem_fold(const Arguments &arguments, Shared *shared, double inverse)
{
    const int channel = threadIdx.x / 8, lane = threadIdx.x % 8;
    if (channel >= CNN_CHANNELS1)
        return;
    const cnn_stem_channel_folded folded =
        cnn_stem_fold_channel(shared->stem_weight[channel], shared->stem_scale[channel], shared->stem_bias[channel],
                              shared->moments, inverse, arguments.epsilon);
    __syncwarp(); // the channel's threads have all read its weights
    shared->stem_weight[channel][lane] = folded.own;
    if (lane > 0)
        return;
    shared->stem_weight[channel][CNN_TAPS - 1] = folded.ninth;
    shared->stem_bias[channel] = folded.bias;
    if (blockIdx.x == 0) {
        float *statistics = arguments.workspace.stem_statistics + channel;
        statistics[0] = folded.mean, statistics[CNN_CHANNELS1] = folded.inverse_std;
        statistics[2 * CNN_CHANNELS1] = folded.variance;
    }
}

// Whether the step before has done all that: in cnn_train, for every step but the first, which has its own cursor.
template <typename Arguments> CNN_DEVICE bool cnn_stem_is_folded(const Arguments &arguments)
{
    return arguments.training.cursors && arguments.operands.cursor != arguments.training.operands.cursor;
}

// Then the first block stores what finish.h will need, by its threads from `first` on,
template <typename Arguments> CNN_DEVICE void cnn_stem_keep_folded(const Arguments &arguments, int first)
{
    const int thread = (int)threadIdx.x - first;
    if (blockIdx.x > 0 || thread < 0)
        return;
    if (thread < CNN_MOMENTS)
        arguments.workspace.stem_moments[thread] = arguments.workspace.next_moments[thread];
    if (thread < (CNN_FOLDED - CNN_FOLDED_MEAN) * CNN_CHANNELS1)
        arguments.workspace.stem_statistics[thread] =
            arguments.workspace.folded[CNN_FOLDED_MEAN * CNN_CHANNELS1 + thread];
}
// and all threads load the weight.
template <int Threads, typename Arguments, typename Shared>
CNN_DEVICE void cnn_stem_take_folded(const Arguments &arguments, Shared *shared)
{
    cnn_stem_keep_folded(arguments, 0);
#pragma unroll
    for (int i = threadIdx.x; i < CNN_FOLDED_MEAN * CNN_CHANNELS1; i += Threads) {
        const int channel = i % CNN_CHANNELS1, which = i / CNN_CHANNELS1;
        const float value = arguments.workspace.folded[i];
        if (which < CNN_TAPS)
            shared->stem_weight[channel][which] = value;
        else
            shared->stem_bias[channel] = value;
    }
}

// Column of tile `tile` of conv1's products → channel. Chosen so that a lane's columns, 2t and 2t + 1 of each tile, are
// eight adjacent channels, which it stores at once.
CNN_DEVICE int cnn_stem_channel(int tile, int column)
{
    return column / 2 * 8 + tile * 2 + column % 2;
}

// K is 2t and 2t + 1, and 8 more in the second half: row K / 4 of the patch, pixel K % 4. At 12, 13 and 14 the first
// part of the weight has the three parts of the bias.
template <int Parts, typename Shared>
CNN_DEVICE void cnn_stem_load(cnn_stem_weight<Parts> *weight, const Shared *shared)
{
    const int lane = threadIdx.x % 32, column = lane / 4, t = lane % 4;
#pragma unroll
    for (int tile = 0; tile < CNN_STEM_TILES; tile++) {
        const int channel = cnn_stem_channel(tile, column);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = half * 2 + t / 2, x = t % 2 * 2;
            float rest[2] = {0, 0};
            if (row < 3)
                rest[0] = shared->stem_weight[channel][row * 3 + x];
            if (row < 3 && x == 0)
                rest[1] = shared->stem_weight[channel][row * 3 + 1];
#pragma unroll
            for (int part = 0; part < Parts; part++) {
                const __nv_bfloat162 two = __floats2bfloat162_rn(rest[0], rest[1]);
                rest[0] -= __low2float(two), rest[1] -= __high2float(two);
                weight->fragment[part][tile][half] = *(const uint32_t *)&two;
            }
        }
        const float bias = shared->stem_bias[channel], high = __bfloat162float(__float2bfloat16_rn(bias));
        const float middle = __bfloat162float(__float2bfloat16_rn(bias - high));
        const __nv_bfloat162 two = __floats2bfloat162_rn(t == 2 ? high : bias - high - middle, t == 2 ? middle : 0.0f);
        if (t >= 2)
            weight->fragment[0][tile][1] = *(const uint32_t *)&two;
    }
}

// --- conv1 -----------------------------------------------------------------------------------------------------------

// Pixels of image i of the block's own, of which the batch has `count`; past those, of the first: it is not used.
template <typename Arguments> CNN_DEVICE const uint8_t *cnn_own_pixels(const Arguments &arguments, int i, int count)
{
    return cnn_batch_pixels(arguments, *arguments.operands.cursor, blockIdx.x + (i < count ? i : 0) * gridDim.x);
}

// Initialises the images: zeros, which the border keeps, and the ones. By all threads of the block.
CNN_DEVICE void cnn_stem_clear(uint32_t *stem, int images, int threads)
{
    static_assert(CNN_STEM_COPY % 4 == 0, "four words are of one copy");
    for (int i = threadIdx.x; i < images * CNN_STEM_WORDS / 4; i += threads) {
        const uint32_t one = 0x3f803f80;                        // twice, as bfloat16
        const int ones = CNN_STEM_ONES - i * 4 % CNN_STEM_COPY; // where they begin
        ((uint4 *)stem)[i] = make_uint4(ones > 0 ? 0 : one, ones > 1 ? 0 : one, ones > 2 ? 0 : one, ones > 3 ? 0 : one);
    }
}

// The borders of pooled images, one after the other: all of the first row and the last, both ends of the others, and
// two pixels beyond.
template <typename Operand> CNN_DEVICE void cnn_tile_clear(Operand *tiles, int count, int threads)
{
    typedef cnn_tile<Operand> Tile;
    enum { FIRST = CNN_TILE_SIDE + 1, ENDS = 2 * (CNN_SIDE1 - 1), BORDER = CNN_TILE_PIXELS - CNN_PIXELS1 };
    for (int i = threadIdx.x; i < count * (CNN_CHANNELS1 / Tile::chunk) * BORDER; i += threads) {
        const int plane = i / BORDER, p = i % BORDER, end = p - FIRST, last = end - ENDS;
        const int pixel = end < 0    ? p
                          : last < 0 ? (end / 2 + 2) * CNN_TILE_SIDE - 1 + end % 2
                                     : CNN_SIDE1 * CNN_TILE_SIDE + CNN_TILE_SIDE - 1 + last;
        *(uint4 *)(tiles + (plane * Tile::plane + pixel) * Tile::chunk) = make_uint4(0, 0, 0, 0);
    }
}

// Four pixels of an image (word `index` of 196) into both copies.
CNN_DEVICE void cnn_stem_unpack(uint32_t *stem, int index, uint32_t bytes)
{
    const int y = index / CNN_WORDS, x = index % CNN_WORDS * 4;
    const __nv_bfloat162 low = __floats2bfloat162_rn((float)(bytes & 255), (float)(bytes >> 8 & 255));
    const __nv_bfloat162 high = __floats2bfloat162_rn((float)(bytes >> 16 & 255), (float)(bytes >> 24));
    uint32_t *shifted = stem + CNN_STEM_COPY + (y + 1) * CNN_STEM_PITCH + x / 2;
    shifted[0] = *(const uint32_t *)&low, shifted[1] = *(const uint32_t *)&high;
    __nv_bfloat16 *plain = (__nv_bfloat16 *)(stem + (y + 1) * CNN_STEM_PITCH) + x + 1;
    plain[0] = low.x, plain[1] = low.y, plain[2] = high.x, plain[3] = high.y;
}

// Images 0 and 1 of the block's own, into their places, by the first CNN_UNPACK_THREADS threads.
template <typename Arguments>
CNN_DEVICE void cnn_stem_first_images(const Arguments &arguments, uint32_t *stem0, uint32_t *stem1, int count)
{
    if (threadIdx.x >= CNN_IMAGE_WORDS)
        return;
    const uint32_t bytes0 = cnn_pixels4(cnn_own_pixels(arguments, 0, count) + threadIdx.x * 4);
    const uint32_t bytes1 = cnn_pixels4(cnn_own_pixels(arguments, 1, count) + threadIdx.x * 4);
    cnn_stem_unpack(stem0, threadIdx.x, bytes0);
    cnn_stem_unpack(stem1, threadIdx.x, bytes1);
}

// Mask for the bits of a float other than the three lowest, which are reused. It comes from a register, computed from a
// number that the compiler does not know to be zero: with one constant, but not with two, `bits & mask | position` is
// one instruction.
CNN_DEVICE int cnn_stem_mask(int zero)
{
    return ~7 ^ zero;
}

// Relu and pooling of a lane's eight channels of one window: z[above, below][tile][left 2, right 2]. Codes are one byte
// per channel. Compared exactly if the pooled value is stored in float.
CNN_DEVICE void cnn_stem_pool(cnn_tf32x3, float pooled[8], uint32_t codes[2], const float z[2][CNN_STEM_OUTPUTS], int)
{
    codes[0] = codes[1] = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const float *top = z[0] + i / 2 * 4 + i % 2, *bottom = z[1] + i / 2 * 4 + i % 2;
        uint32_t code;
        pooled[i] = cnn_relu_pool(top[0], top[2], bottom[0], bottom[2], &code);
        codes[i / 4] |= code << i % 4 * 8;
    }
}

// If it is rounded to 11 bits or fewer, the three lowest of the 24 can hold the position: positive floats have the
// order of their bits as integers, so two maxima of three give value and winner at once. Positions count down, so that
// the first of equals wins; 7, which is larger than any key of a value up to zero, is the code of a closed window. Both
// become the layout's codes by exchanging the lower two bits. `mask` is cnn_stem_mask.
template <typename Arithmetic>
CNN_DEVICE void cnn_stem_pool(Arithmetic, float pooled[8], uint32_t codes[2], const float z[2][CNN_STEM_OUTPUTS],
                              int mask)
{
    enum { CLOSED = 7 };
    static_assert((CLOSED ^ 3) == CNN_NO_WINNER, "codes");
    int best[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int key[4];
#pragma unroll
        for (int position = 0; position < 4; position++)
            key[position] =
                (__float_as_int(z[position / 2][i / 2 * 4 + position % 2 * 2 + i % 2]) & mask) | (3 - position);
        best[i] = __vimax3_s32(__vimax3_s32(key[0], key[1], key[2]), key[3], CLOSED);
        pooled[i] = __int_as_float(best[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t low = __byte_perm(best[4 * i], best[4 * i + 1], 0x0040); // byte 0 of each
        const uint32_t high = __byte_perm(best[4 * i + 2], best[4 * i + 3], 0x0040);
        codes[i] = (__byte_perm(low, high, 0x5410) ^ 0x03030303u) & 0x07070707u;
    }
}

template <typename Narrow> CNN_DEVICE uint4 cnn_eight(const float values[8])
{
    return make_uint4(cnn_pair(Narrow(), values[0], values[1]), cnn_pair(Narrow(), values[2], values[3]),
                      cnn_pair(Narrow(), values[4], values[5]), cnn_pair(Narrow(), values[6], values[7]));
}
// Eight channels of a pooled pixel, rounded, to shared and to global memory.
template <typename Narrow> CNN_DEVICE void cnn_stem_store(Narrow *tile, Narrow *pooled, const float values[8])
{
    *(uint4 *)tile = *(uint4 *)pooled = cnn_eight<Narrow>(values);
}
// Times `scale`, as one half or as two that add up to it: in shared memory each in its own tile, in global memory
// `apart` halves apart.
template <typename Arithmetic>
CNN_DEVICE void cnn_stem_store_halves(__half *tile, __half *pooled, size_t apart, const float values[8], float scale)
{
    float rest[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        rest[i] = values[i] * scale;
#pragma unroll
    for (int part = 0; part < cnn_half_parts<Arithmetic>::COUNT; part++) {
        const uint4 eight = cnn_eight<__half>(rest);
        *(uint4 *)(tile + part * cnn_tile<__half>::size) = *(uint4 *)(pooled + part * apart) = eight;
#pragma unroll
        for (int i = 0; i < 8; i++)
            rest[i] -= __half2float(__float2half_rn(rest[i]));
    }
}

// Pooled image `image` from `stem`, into `tile` and global memory, by Warps warps of which this is number `warp`. The
// last windows are outside the image; what they read is in the rows of ones or beyond, and they store nothing.
template <typename Arithmetic, int Warps, typename Arguments, typename Element, typename Weight>
CNN_DEVICE void cnn_stem_forward(const Arguments &arguments, int image, const uint32_t *stem, Element *tile,
                                 const Weight &weight, int warp)
{
    typedef cnn_tile<Element> Tile;
    enum {
        ADVANCE_Y = Warps * 8 / CNN_SIDE1, // from one window of a lane to its next
        ADVANCE_X = Warps * 8 % CNN_SIDE1,
    };
    const int lane = threadIdx.x % 32, t = lane % 4, mask = cnn_stem_mask(arguments.n >> 31);
    int window = warp * 8 + lane / 4, x = window % CNN_SIDE1;
    const int y = window / CNN_SIDE1, corner = 2 * y * CNN_STEM_PITCH + x;
    const uint32_t *first = stem + corner + t / 2 * CNN_STEM_PITCH + t % 2; // rows 0 and 1 of the patch
    const uint32_t *last = stem + (t < 2 ? corner + 2 * CNN_STEM_PITCH + t : (int)CNN_STEM_ONES); // row 2, or ones
    Element *to_tile = tile + ((y + 1) * CNN_TILE_SIDE + x + 1) * Tile::pixel + t * Tile::eight;
    const size_t at = ((size_t)image * CNN_PIXELS1 + window) * CNN_CHANNELS1 + t * 8;
    Element *to_pooled = (Element *)arguments.workspace.pooled1 + at;
    uint8_t *to_code = arguments.workspace.code1 + at;
    // The same number of turns for all warps that multiply together.
    for (int begin = warp / Weight::TOGETHER * Weight::TOGETHER * 8; begin < CNN_PIXELS1; begin += Warps * 8) {
        const uint32_t above[4] = {first[0], first[CNN_STEM_COPY], last[0], last[CNN_STEM_COPY]};
        const uint32_t below[4] = {first[CNN_STEM_PITCH], first[CNN_STEM_COPY + CNN_STEM_PITCH], last[CNN_STEM_PITCH],
                                   last[CNN_STEM_COPY + CNN_STEM_PITCH]};
        float z[2][CNN_STEM_OUTPUTS], pooled[8]; // positions 0 1 of the windows are above, 2 3 below
        weight.multiply(z[0], z[1], above, below);
        uint32_t codes[2];
        cnn_stem_pool(Arithmetic(), pooled, codes, z, mask);
        if (window < CNN_PIXELS1) {
            if constexpr (std::is_same<Element, typename Arithmetic::operand>::value)
                cnn_stem_store(to_tile, to_pooled, pooled);
            else
                cnn_stem_store_halves<Arithmetic>(to_tile, to_pooled, (size_t)arguments.n * CNN_PIXELS1 * CNN_CHANNELS1,
                                                  pooled, weight.scale);
            *(uint2 *)to_code = make_uint2(codes[0], codes[1]);
        }
        x += ADVANCE_X;
        const bool wraps = x >= CNN_SIDE1;
        const int step = 2 * ADVANCE_Y * CNN_STEM_PITCH + ADVANCE_X + (wraps ? 2 * CNN_STEM_PITCH - CNN_SIDE1 : 0);
        window += Warps * 8, first += step, last += t < 2 ? step : 0;
        to_tile += (ADVANCE_Y * CNN_TILE_SIDE + ADVANCE_X + (wraps ? CNN_TILE_SIDE - CNN_SIDE1 : 0)) * Tile::pixel;
        x -= wraps ? CNN_SIDE1 : 0;
        to_pooled += Warps * 8 * CNN_CHANNELS1, to_code += Warps * 8 * CNN_CHANNELS1;
    }
}
