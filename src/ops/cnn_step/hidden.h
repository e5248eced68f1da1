// Batchnorm 2, relu and pooling of conv2's output, and the first linear layer's products on the result.
//
// Reads convolution2, statistics2_partial, gamma2, beta2 and the packed hidden weight; writes pooled2, code2,
// statistics2 and hidden_partial, which head.h adds. If forward_wgmma.h has already found the winners of the windows,
// these are read instead of convolution2, a quarter of the bytes, and code2 is ready. A block has CNN_HIDDEN_TILE
// samples and a range of the pooled pixels: a matrix product (64, pixels * 64) by (pixels * 64, 128), one pixel of K at
// a time. While a pixel's products run, the next one's windows are normalised and pooled into the other of two tiles;
// the weights after that and the windows of two further pixels are in flight: one barrier per pixel. A thread copies
// the windows that it pools itself, so that they need no barrier, and their place is free again as soon as it has read
// them.
//
// Rows of the tiles are 16 bytes longer than their data: the eight rows that ldmatrix takes at a time then lie in
// different banks.
//
// Limited by: with many tiles, L2 bandwidth: each reads all the weights, as many bytes (twice as many in float) as half
// of its windows. With few, latency: half of the time passes until the statistics are ready.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cuda/dependent.h"

enum { CNN_HIDDEN_THREADS = 512 };

// Positions: of a window that are read: all four, or the winner alone.
template <typename Arithmetic, int Positions> struct cnn_hidden_plan {
    typedef cnn_hidden_halves<Arithmetic> halves;
    // The type of product operands, and the arithmetic of one of them.
    typedef
        typename std::conditional<Positions == 1, typename halves::element, typename Arithmetic::operand>::type operand;
    typedef typename std::conditional<Positions == 1 && halves::SCALED, cnn_fp16, Arithmetic>::type product;
    typedef typename Arithmetic::convolution convolution;
    enum {
        SCALED = Positions == 1 && halves::SCALED,
        PARTS = Positions == 1 ? halves::PARTS : 1,
        THREADS = CNN_HIDDEN_THREADS,
        // Limits registers so that an SM holds this many blocks: not for a second one, but for the first of head.h's.
        RESIDENT = Positions == 1 && PARTS == 1 ? 2 : 1,
        COLUMN_WARPS = 8, // across, in two rows: a warp has 32 samples by 16 outputs
        WARP_ROWS = 32,
        WARP_COLUMNS = CNN_HIDDEN / COLUMN_WARPS,
        VECTOR = 16 / sizeof(convolution), // channels that a thread pools: one copy
        GROUPS = CNN_CHANNELS2 / VECTOR,   // threads of a sample
        ROUNDS = CNN_HIDDEN_TILE * GROUPS / THREADS,
        WINDOW_BYTES = Positions * CNN_HIDDEN_TILE * CNN_CHANNELS2 * sizeof(convolution),
        // Pixels in flight: their windows, and after the one in use their weights. Winners leave room for more.
        WINDOW_RING = Positions == 1 ? 8 / sizeof(convolution) : 4 / sizeof(convolution),
        WEIGHTS_AHEAD = Positions == 1 ? 5 - PARTS : 2,
        LEAST_AHEAD = WINDOW_RING + 0 < WEIGHTS_AHEAD + 0 ? WINDOW_RING + 0 : WEIGHTS_AHEAD + 0,
        PITCH = CNN_CHANNELS2 * sizeof(operand) + 16,
        WEIGHT_PART = CNN_HIDDEN * PITCH,
        WEIGHT_BYTES = PARTS * WEIGHT_PART,
        WEIGHT_RING = WEIGHTS_AHEAD + 1,
        POOLED_PART = CNN_HIDDEN_TILE * PITCH,
        POOLED_BYTES = PARTS * POOLED_PART,
        SHARED_BYTES = WINDOW_RING * WINDOW_BYTES + WEIGHT_RING * WEIGHT_BYTES + 2 * POOLED_BYTES,
    };
};

// weight: (128, 49, 64), in parts; to: (128, 64) of one pixel
template <typename Arithmetic, int Positions>
CNN_DEVICE void cnn_hidden_fetch_weight(char *to, const void *weight, int pixel)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    enum { SIZE = sizeof(typename plan::operand), PIECES = CNN_CHANNELS2 * SIZE / 16, ROWS = plan::THREADS / PIECES };
    const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    const char *source = (const char *)weight + (row * CNN_FEATURES + pixel * CNN_CHANNELS2) * SIZE + piece * 16;
    to += row * plan::PITCH + piece * 16;
    static_assert(CNN_HIDDEN % ROWS == 0, "parts follow each other like rows");
#pragma unroll
    for (int i = 0; i < plan::PARTS * CNN_HIDDEN; i += ROWS)
        cp_async_16(to + i * plan::PITCH, source + i * CNN_FEATURES * SIZE);
}

// The windows of one pooled pixel that this thread pools: [round][positions][thread] of 16 bytes.
template <typename Arithmetic, int Positions>
CNN_DEVICE void
cnn_hidden_fetch_windows(char *to,
                         const cnn_workspace<typename Arithmetic::operand, typename Arithmetic::convolution> &workspace,
                         int tile, int pixel, int n)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    const int y = pixel / CNN_SIDE2 * 2, x = pixel % CNN_SIDE2 * 2;
#pragma unroll
    for (int round = 0; round < plan::ROUNDS; round++) {
        const int item = round * plan::THREADS + threadIdx.x;
        const int sample = tile * CNN_HIDDEN_TILE + item / plan::GROUPS;
        if (sample >= n)
            continue;
        const int channel = item % plan::GROUPS * plan::VECTOR;
        if (Positions == 1) {
            cp_async_16(to + item * 16,
                        workspace.winner2 + ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 + channel);
            continue;
        }
        const typename plan::convolution *corner =
            workspace.convolution2 + ((size_t)(sample * CNN_SIDE1 + y) * CNN_SIDE1 + x) * CNN_CHANNELS2 + channel;
#pragma unroll
        for (int position = 0; position < 4; position++)
            cp_async_16(to + ((round * 4 + position) * plan::THREADS + threadIdx.x) * 16,
                        corner + (position / 2 * CNN_SIDE1 + position % 2) * CNN_CHANNELS2);
    }
}

// --- batchnorm, relu and pooling of one thread's channels ------------------------------------------------------------

// Batchnorm as z = y * scale + shift, of which pooling needs only the winner's: the largest y, or the smallest if the
// scale is negative, or the first if it is 0. So y is compared as (y & keep) ^ flip, both of them masks, and the scale
// is used without its sign.
template <typename Arithmetic> struct cnn_hidden_batchnorm {
    enum { VECTOR = 16 / sizeof(typename Arithmetic::convolution) };
    float scale[VECTOR], shift[VECTOR];
    uint32_t keep[VECTOR / 2], flip[VECTOR / 2]; // of pairs of 16 bits; not used with floats
};

// A thread's results for its windows: VECTOR operands, rounded, and their codes, four bytes per word.
template <typename Arithmetic> struct __align__(16) cnn_hidden_pooled
{
    enum { VECTOR = 16 / sizeof(typename Arithmetic::convolution) };
    uint32_t operands[VECTOR * sizeof(typename Arithmetic::operand) / 4]; // in halves [part][VECTOR / 2]
    uint32_t codes[VECTOR / 4];
};

// Two 16-bit values in 32 bits.
template <typename Value> struct cnn_hidden_pair;
template <> struct cnn_hidden_pair<__half> {
    typedef __half2 type;
};
template <> struct cnn_hidden_pair<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
};
template <typename Value> CNN_DEVICE typename cnn_hidden_pair<Value>::type cnn_hidden_pair_of(uint32_t bits)
{
    return *(typename cnn_hidden_pair<Value>::type *)&bits;
}
CNN_DEVICE float2 cnn_hidden_floats_of(__half2 pair)
{
    return __half22float2(pair);
}
CNN_DEVICE float2 cnn_hidden_floats_of(__nv_bfloat162 pair)
{
    return __bfloat1622float2(pair);
}

// Relu of two values, rounded, as a word; returns 0xffff for each that passed relu.
template <typename Arithmetic> CNN_DEVICE uint32_t cnn_hidden_relu(uint32_t *word, float first, float second, __half)
{
    const __half2 zero = __floats2half2_rn(0.0f, 0.0f), pair = __hmax2_nan(__floats2half2_rn(first, second), zero);
    *word = *(const uint32_t *)&pair;
    return __hgt2_mask(pair, zero);
}
template <typename Arithmetic>
CNN_DEVICE uint32_t cnn_hidden_relu(uint32_t *word, float first, float second, __nv_bfloat16)
{
    const __nv_bfloat162 zero = __floats2bfloat162_rn(0.0f, 0.0f);
    const __nv_bfloat162 pair = __hmax2_nan(__floats2bfloat162_rn(first, second), zero);
    *word = *(const uint32_t *)&pair;
    return __hgt2_mask(pair, zero);
}

// Two channels at a time. windows: [position][thread] of 16 bytes
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_pool(cnn_hidden_pooled<Arithmetic> *pooled, const char *windows,
                                const cnn_hidden_batchnorm<Arithmetic> *batchnorm)
{
    typedef typename Arithmetic::convolution convolution;
    typedef typename cnn_hidden_pair<convolution>::type pair;
    uint32_t y[4][4];
#pragma unroll
    for (int position = 0; position < 4; position++)
        *(uint4 *)y[position] = *(const uint4 *)(windows + position * CNN_HIDDEN_THREADS * 16);
    uint32_t codes[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        pair z[4];
#pragma unroll
        for (int position = 0; position < 4; position++)
            z[position] = cnn_hidden_pair_of<convolution>((y[position][i] & batchnorm->keep[i]) ^ batchnorm->flip[i]);
        const pair top = __hmax2(z[0], z[1]), bottom = __hmax2(z[2], z[3]);
        const uint32_t right_top = __hgt2_mask(z[1], z[0]), right_bottom = __hgt2_mask(z[3], z[2]);
        const uint32_t lower = __hgt2_mask(bottom, top);
        const uint32_t right = (right_bottom & lower) | (right_top & ~lower);
        const float2 best = cnn_hidden_floats_of(__hmax2(top, bottom));
        const uint32_t open = cnn_hidden_relu<Arithmetic>(
            pooled->operands + i * sizeof(typename Arithmetic::operand) / 2,
            fmaf(best.x, batchnorm->scale[2 * i], batchnorm->shift[2 * i]),
            fmaf(best.y, batchnorm->scale[2 * i + 1], batchnorm->shift[2 * i + 1]), typename Arithmetic::operand());
        const uint32_t winner = (right & 0x00010001u) | (lower & 0x00020002u);
        codes[i] = (winner & open) | (CNN_NO_WINNER * 0x00010001u & ~open);
    }
    const int low_bytes = 0x6420; // of each 16 bits
    pooled->codes[0] = __byte_perm(codes[0], codes[1], low_bytes);
    pooled->codes[1] = __byte_perm(codes[2], codes[3], low_bytes);
}

// The power of two that scales batchnorm's output as halves, computed by a warp: none of a batch's values is further
// from their mean than the root of their number times the deviation.
template <typename Arguments> CNN_DEVICE float cnn_hidden_pooled_scale(const Arguments &arguments)
{
    const heddle_cnn_step_parameters &parameters = arguments.operands.parameters;
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS1);
    float most = 0.0f;
#pragma unroll
    for (int channel = threadIdx.x % 32; channel < CNN_CHANNELS2; channel += 32)
        most = fmaxf(most, fabsf(parameters.gamma2[channel]) * furthest + fabsf(parameters.beta2[channel]));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
    return cnn_half_scale(most);
}

// Relu of two values, as a half each or two.
template <int Parts> CNN_DEVICE void cnn_hidden_relu_halves(uint32_t *words, int stride, float first, float second)
{
    first = first <= 0.0f ? 0.0f : first, second = second <= 0.0f ? 0.0f : second; // not fmaxf: NaN is preserved
#pragma unroll
    for (int part = 0; part < Parts; part++) {
        const __half2 pair = __floats2half2_rn(first, second);
        const float2 rounded = __half22float2(pair);
        words[part * stride] = *(const uint32_t *)&pair;
        first -= rounded.x, second -= rounded.y;
    }
}

// If the windows' winners are known: only batchnorm and relu.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_normalise(cnn_hidden_pooled<Arithmetic> *pooled, const char *winners,
                                     const cnn_hidden_batchnorm<Arithmetic> *batchnorm)
{
    typedef typename Arithmetic::convolution convolution;
    enum { VECTOR = cnn_hidden_batchnorm<Arithmetic>::VECTOR };
    float y[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; i += 4)
        cnn_load4(y + i, (const convolution *)winners + i);
#pragma unroll
    for (int i = 0; i < VECTOR; i += 2) {
        const float first = fmaf(y[i], batchnorm->scale[i], batchnorm->shift[i]);
        const float second = fmaf(y[i + 1], batchnorm->scale[i + 1], batchnorm->shift[i + 1]);
        cnn_hidden_relu_halves<cnn_hidden_halves<Arithmetic>::PARTS>(pooled->operands + i / 2, VECTOR / 2, first,
                                                                     second);
    }
}

// --- one pixel -------------------------------------------------------------------------------------------------------

// On entry scale and shift are gamma and beta; `power`: the factor of the normalised value, a power of two.
template <typename Arithmetic, int Positions>
CNN_DEVICE void cnn_hidden_load_batchnorm(cnn_hidden_batchnorm<Arithmetic> *batchnorm, const cnn_statistics *statistics,
                                          int channel, float power)
{
#pragma unroll
    for (int i = 0; i < cnn_hidden_batchnorm<Arithmetic>::VECTOR; i++) {
        const float scale = batchnorm->scale[i] * statistics->inverse_std[channel + i];
        batchnorm->shift[i] -= statistics->mean[channel + i] * scale;
        batchnorm->scale[i] = scale;
        if (cnn_hidden_plan<Arithmetic, Positions>::SCALED)
            batchnorm->scale[i] *= power, batchnorm->shift[i] *= power;
        if (Positions == 1)
            continue;
        const uint32_t half = i % 2 * 16;
        batchnorm->keep[i / 2] = (i % 2 ? batchnorm->keep[i / 2] : 0) | (scale == 0.0f ? 0u : 0xffffu << half);
        batchnorm->flip[i / 2] = (i % 2 ? batchnorm->flip[i / 2] : 0) | (scale < 0.0f ? 0x8000u << half : 0u);
        batchnorm->scale[i] = fabsf(scale);
    }
}

CNN_DEVICE uint4 cnn_hidden_words(const uint32_t *words)
{
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// A thread's VECTOR operands of a part to shared memory and to global memory.
template <int Words> CNN_DEVICE void cnn_hidden_leave(char *to, char *global, const uint32_t *words, bool inside)
{
    if constexpr (Words % 4 == 0) {
#pragma unroll
        for (int i = 0; i < Words / 4; i++) {
            ((uint4 *)to)[i] = cnn_hidden_words(words + 4 * i);
            if (inside)
                __stcg((uint4 *)global + i, cnn_hidden_words(words + 4 * i));
        }
    } else {
        static_assert(Words == 2, "words of a store");
        *(uint2 *)to = make_uint2(words[0], words[1]);
        if (inside)
            __stcg((uint2 *)global, make_uint2(words[0], words[1]));
    }
}

// Pools all of a pixel's windows: into the tile for its products, and into pooled2 and code2 for the backward pass.
// Rows past the batch are zeros.
template <typename Arithmetic, int Positions>
CNN_DEVICE void
cnn_hidden_pool_pixel(char *to, const char *windows,
                      const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                      int tile, int pixel, const cnn_hidden_batchnorm<Arithmetic> *batchnorm)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    typedef typename plan::operand operand;
    enum { WORDS = plan::VECTOR * sizeof(operand) / 4 }; // of a part
    const int channel = threadIdx.x % plan::GROUPS * plan::VECTOR;
#pragma unroll
    for (int round = 0; round < plan::ROUNDS; round++) {
        const int row = (round * plan::THREADS + threadIdx.x) / plan::GROUPS, sample = tile * CNN_HIDDEN_TILE + row;
        const size_t at = ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 + channel;
        cnn_hidden_pooled<Arithmetic> pooled = {};
        if (sample < arguments.n) {
            const char *own = windows + (round * Positions * plan::THREADS + threadIdx.x) * 16;
            if constexpr (Positions == 1) {
                cnn_hidden_normalise(&pooled, own, batchnorm);
            } else {
                cnn_hidden_pool(&pooled, own, batchnorm);
                *(uint2 *)(arguments.workspace.code2 + at) = make_uint2(pooled.codes[0], pooled.codes[1]);
            }
        }
#pragma unroll
        for (int part = 0; part < plan::PARTS; part++)
            cnn_hidden_leave<WORDS>(
                to + part * plan::POOLED_PART + row * plan::PITCH + channel * sizeof(operand),
                (char *)((operand *)arguments.workspace.pooled2 + (size_t)part * arguments.n * CNN_FEATURES + at),
                pooled.operands + part * WORDS, sample < arguments.n);
    }
}

// Two products of halves in two parts each, a[part] and b[part]. Tensor cores truncate sums where float32 would round
// them, and in a sum of hundreds that adds up: each product is therefore added outside. Two at a time, so that the
// three steps of one hide the latency of the other.
CNN_DEVICE void cnn_hidden_multiply_parts(float first[4], float second[4], const uint32_t a[2][4],
                                          const uint32_t b[2][4])
{
    float one[4] = {0.0f, 0.0f, 0.0f, 0.0f}, two[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < 3; i++) { // the small ones first
        mma_m16n8k16_half(one, a[i == 0], b[i == 1], one);
        mma_m16n8k16_half(two, a[i == 0], b[i == 1] + 2, two);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        first[i] += one[i];
        second[i] += two[i];
    }
}

// sum: (32, 16) += pooled (32, 64) * weight (16, 64) transposed; both begin at the warp's first row.
template <typename Arithmetic, int Positions>
CNN_DEVICE void cnn_hidden_products(float sum[2][2][4], const char *pooled, const char *weight)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    enum { PITCH = plan::PITCH };
    const int lane = threadIdx.x % 32;
    pooled += lane % 16 * PITCH + lane / 16 * 16;
    weight += (lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 16;
#pragma unroll 4
    for (int k = 0; k < PITCH - 16; k += CNN_FRAGMENT_BYTES) {
        uint32_t a[2][plan::PARTS][4], b[plan::PARTS][4];
#pragma unroll
        for (int part = 0; part < plan::PARTS; part++) {
            ldmatrix_x4(a[0][part], pooled + part * plan::POOLED_PART + k);
            ldmatrix_x4(a[1][part], pooled + part * plan::POOLED_PART + 16 * PITCH + k);
            ldmatrix_x4(b[part], weight + part * plan::WEIGHT_PART + k);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if constexpr (plan::PARTS > 1)
                cnn_hidden_multiply_parts(sum[i][0], sum[i][1], a[i], b);
            else
                cnn_multiply_two<typename plan::product>(sum[i][0], sum[i][1], a[i][0], b[0]);
        }
    }
}

// partial: rows of 128, at the warp's first row and column
CNN_DEVICE void cnn_hidden_store(float *partial, const float sum[2][2][4], float inverse)
{
    const int lane = threadIdx.x % 32;
    partial += lane / 4 * CNN_HIDDEN + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            __stcg((float2 *)(partial + i * 16 * CNN_HIDDEN + j * 8),
                   make_float2(sum[i][j][0] * inverse, sum[i][j][1] * inverse));
            __stcg((float2 *)(partial + (i * 16 + 8) * CNN_HIDDEN + j * 8),
                   make_float2(sum[i][j][2] * inverse, sum[i][j][3] * inverse));
        }
}

template <typename Arithmetic, int Positions>
__global__ void __launch_bounds__(cnn_hidden_plan<Arithmetic, Positions>::THREADS,
                                  cnn_hidden_plan<Arithmetic, Positions>::RESIDENT)
    cnn_hidden_kernel(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                      cnn_cuts cuts)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    extern __shared__ __align__(128) char cnn_shared[];
    __shared__ cnn_statistics statistics;
    char *const windows = cnn_shared, *const weights = windows + plan::WINDOW_RING * plan::WINDOW_BYTES;
    char *const tiles = weights + plan::WEIGHT_RING * plan::WEIGHT_BYTES;
    const auto &workspace = arguments.workspace;
    const int tile = blockIdx.x / cuts.hidden_splits, split = blockIdx.x % cuts.hidden_splits;
    const int first = split * CNN_PIXELS2 / cuts.hidden_splits;
    const int pixels = (split + 1) * CNN_PIXELS2 / cuts.hidden_splits - first;
    const int warp = threadIdx.x / 32;
    const int row = warp / plan::COLUMN_WARPS * plan::WARP_ROWS,
              column = warp % plan::COLUMN_WARPS * plan::WARP_COLUMNS;
    const int channel = threadIdx.x % plan::GROUPS * plan::VECTOR; // the first that this thread pools

#pragma unroll
    for (int i = 0; i < plan::WEIGHTS_AHEAD; i++)
        if (i < pixels)
            cnn_hidden_fetch_weight<Arithmetic, Positions>(weights + i * plan::WEIGHT_BYTES, workspace.hidden,
                                                           first + i);
    cnn_hidden_batchnorm<Arithmetic> batchnorm;
#pragma unroll
    for (int i = 0; i < plan::VECTOR; i++) {
        batchnorm.scale[i] = arguments.operands.parameters.gamma2[channel + i];
        batchnorm.shift[i] = arguments.operands.parameters.beta2[channel + i];
    }
    const float power = plan::SCALED ? cnn_hidden_pooled_scale(arguments) : 1.0f;
    heddle_wait_for_previous();
    heddle_release_next();
#pragma unroll
    for (int i = 0; i < plan::WINDOW_RING; i++) {
        if (i < pixels)
            cnn_hidden_fetch_windows<Arithmetic, Positions>(windows + i * plan::WINDOW_BYTES, workspace, tile,
                                                            first + i, arguments.n);
        cp_async_commit();
    }
    static_assert(CNN_HIDDEN_THREADS * sizeof(float4) <= 2 * plan::POOLED_BYTES, "scratch");
    cnn_statistics_add<CNN_HIDDEN_THREADS>(arguments, (float4 *)tiles, &statistics);
    cnn_hidden_load_batchnorm<Arithmetic, Positions>(&batchnorm, &statistics, channel, power);

    float sum[2][2][4] = {};
#pragma unroll 1
    for (int pixel = -1; pixel < pixels; pixel++) { // the pixel that is multiplied; the one after it is pooled
        cp_async_wait_group<plan::LEAST_AHEAD - 1>();
        __syncthreads();
        const int after = pixel + plan::WEIGHTS_AHEAD;
        if (pixel >= 0 && after < pixels)
            cnn_hidden_fetch_weight<Arithmetic, Positions>(weights + after % plan::WEIGHT_RING * plan::WEIGHT_BYTES,
                                                           workspace.hidden, first + after);
        const int next = pixel + 1;
#pragma unroll 1
        for (int turn = 0; turn < 2;
             turn++) { // half of the warps pool first, half multiply first: both pipes have work
            if (turn == warp / 4 % 2) {
                char *const window = windows + next % plan::WINDOW_RING * plan::WINDOW_BYTES;
                if (next < pixels)
                    cnn_hidden_pool_pixel<Arithmetic, Positions>(tiles + next % 2 * plan::POOLED_BYTES, window,
                                                                 arguments, tile, first + next, &batchnorm);
                if (next + plan::WINDOW_RING < pixels)
                    cnn_hidden_fetch_windows<Arithmetic, Positions>(window, workspace, tile,
                                                                    first + next + plan::WINDOW_RING, arguments.n);
            } else if (pixel >= 0 && tile * CNN_HIDDEN_TILE + row < arguments.n)
                cnn_hidden_products<Arithmetic, Positions>(
                    sum, tiles + pixel % 2 * plan::POOLED_BYTES + row * plan::PITCH,
                    weights + pixel % plan::WEIGHT_RING * plan::WEIGHT_BYTES + column * plan::PITCH);
        }
        cp_async_commit();
    }
    cnn_hidden_store(workspace.hidden_partial +
                         ((size_t)(split * cuts.tiles + tile) * CNN_HIDDEN_TILE + row) * CNN_HIDDEN + column,
                     sum, plan::SCALED ? 1.0f / (power * CNN_HIDDEN_WEIGHT_SCALE) : 1.0f);
}

template <typename Arithmetic, int Positions>
static cudaError_t cnn_launch_hidden_positions(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    const cnn_cuts cuts = cnn_cuts_of(arguments.n);
    const cudaError_t error = cudaFuncSetAttribute(cnn_hidden_kernel<Arithmetic, Positions>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, plan::SHARED_BYTES);
    if (error != cudaSuccess)
        return error;
    cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> own = arguments;
    if (Positions == 1)
        own.forward_blocks = cnn_wgmma_blocks(arguments.n, arguments.multiprocessors);
    return heddle_cuda_launch_dependent(cnn_hidden_kernel<Arithmetic, Positions>, dim3(cuts.tiles * cuts.hidden_splits),
                                        dim3(plan::THREADS), plan::SHARED_BYTES, stream, own, cuts);
}

// After forward.h.
template <typename Arithmetic>
static cudaError_t
cnn_launch_hidden(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                  cudaStream_t stream)
{
    return cnn_launch_hidden_positions<Arithmetic, 4>(arguments, stream);
}

// After forward_wgmma.h.
template <typename Arithmetic>
static cudaError_t cnn_launch_hidden_winners(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    return cnn_launch_hidden_positions<Arithmetic, 1>(arguments, stream);
}
