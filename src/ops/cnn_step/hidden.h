// Batchnorm 2, relu and pooling of conv2's output, and the first linear layer's products on what comes out.
//
// Reads convolution2, statistics2_partial, gamma2, beta2 and the packed hidden weight; writes pooled2, code2,
// statistics2 and hidden_partial, which head.h adds up. Where forward_wgmma.h has found the winners of the windows
// already, these are read instead of convolution2, a quarter of the bytes, and code2 is there. A block has
// CNN_HIDDEN_TILE samples and a range of the pooled pixels: a matrix product (64, pixels * 64) by (pixels * 64, 128), a
// pixel of K at a time. While a pixel's products run, the next one's windows are normalised and pooled into the other
// of two tiles, the weights after that and the windows of two further pixels are on their way: one barrier a pixel. A
// thread copies the windows that it pools itself, so that they need no barrier, and their place is free again as soon
// as it has read them.
//
// Rows of the tiles are 16 bytes longer than their data: the eight rows that ldmatrix takes at a time then lie in
// different banks.
//
// Limited by: bytes from the L2 cache. Every tile of samples reads all the weights, as many bytes (twice as many in
// float) as half of what its windows have.
#ifndef HEDDLE_OPS_CNN_STEP_HIDDEN_H
#define HEDDLE_OPS_CNN_STEP_HIDDEN_H

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/dependent.h"

enum { CNN_HIDDEN_THREADS = 512 };

// Positions: of a window that are read: all four, or the winner alone.
template <typename Arithmetic, int Positions> struct cnn_hidden_plan {
    typedef typename Arithmetic::operand operand;
    typedef typename Arithmetic::convolution convolution;
    enum {
        THREADS = CNN_HIDDEN_THREADS,
        COLUMN_WARPS = 8, // beside each other, two rows of them: a warp has 32 samples by 16 outputs
        WARP_ROWS = 32,
        WARP_COLUMNS = CNN_HIDDEN / COLUMN_WARPS,
        VECTOR = 16 / sizeof(convolution), // channels that a thread pools: what one copy brings
        GROUPS = CNN_CHANNELS2 / VECTOR,   // threads of a sample
        ROUNDS = CNN_HIDDEN_TILE * GROUPS / THREADS,
        WINDOW_BYTES = Positions * CNN_HIDDEN_TILE * CNN_CHANNELS2 * sizeof(convolution),
        // Pixels on their way: their windows, and behind the one in use their weights. Winners leave room for more.
        WINDOW_RING = Positions == 1 ? 5 - sizeof(convolution) / 2 : 4 / sizeof(convolution),
        WEIGHTS_AHEAD = Positions == 1 ? 5 - sizeof(operand) / 2 : 2,
        LEAST_AHEAD = WINDOW_RING + 0 < WEIGHTS_AHEAD + 0 ? WINDOW_RING + 0 : WEIGHTS_AHEAD + 0,
        PITCH = CNN_CHANNELS2 * sizeof(operand) + 16,
        WEIGHT_BYTES = CNN_HIDDEN * PITCH,
        WEIGHT_RING = WEIGHTS_AHEAD + 1,
        POOLED_BYTES = CNN_HIDDEN_TILE * PITCH,
        SHARED_BYTES = WINDOW_RING * WINDOW_BYTES + WEIGHT_RING * WEIGHT_BYTES + 2 * POOLED_BYTES,
    };
};

// weight: (128, 49, 64); to: (128, 64) of one pixel
template <typename Arithmetic, int Positions>
CNN_DEVICE void cnn_hidden_fetch_weight(char *to, const typename Arithmetic::operand *weight, int pixel)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    enum { SIZE = sizeof(typename plan::operand), PIECES = CNN_CHANNELS2 * SIZE / 16, ROWS = plan::THREADS / PIECES };
    const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    const char *source = (const char *)(weight + (size_t)row * CNN_FEATURES + pixel * CNN_CHANNELS2) + piece * 16;
    to += row * plan::PITCH + piece * 16;
#pragma unroll
    for (int i = 0; i < CNN_HIDDEN; i += ROWS)
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

// Batchnorm as z = y * scale + shift, of which pooling needs only the winner's: the largest y, or the smallest where
// the scale is negative, or the first where it is 0. So y is compared as (y & keep) ^ flip, both of them masks, and
// the scale taken without its sign.
template <typename Arithmetic> struct cnn_hidden_batchnorm {
    enum { VECTOR = 16 / sizeof(typename Arithmetic::convolution) };
    float scale[VECTOR], shift[VECTOR];
    uint32_t keep[VECTOR / 2], flip[VECTOR / 2]; // of pairs of 16 bits; not used with floats
};

// What a thread makes of its windows: VECTOR operands, rounded, and their codes, four bytes a word.
template <typename Arithmetic> struct __align__(16) cnn_hidden_pooled
{
    enum { VECTOR = 16 / sizeof(typename Arithmetic::convolution) };
    uint32_t operands[VECTOR * sizeof(typename Arithmetic::operand) / 4];
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

// Relu of two values, rounded, as words; returns 0xffff for each that relu let through.
template <typename Arithmetic> CNN_DEVICE uint32_t cnn_hidden_relu(uint32_t words[2], float first, float second, float)
{
    words[0] = __float_as_uint(cnn_round<Arithmetic>(first <= 0.0f ? 0.0f : first)); // not fmaxf: NaN stays
    words[1] = __float_as_uint(cnn_round<Arithmetic>(second <= 0.0f ? 0.0f : second));
    return (first > 0.0f ? 0xffffu : 0u) | (second > 0.0f ? 0xffff0000u : 0u);
}
template <typename Arithmetic> CNN_DEVICE uint32_t cnn_hidden_relu(uint32_t words[1], float first, float second, __half)
{
    const __half2 zero = __floats2half2_rn(0.0f, 0.0f), pair = __hmax2_nan(__floats2half2_rn(first, second), zero);
    words[0] = *(const uint32_t *)&pair;
    return __hgt2_mask(pair, zero);
}
template <typename Arithmetic>
CNN_DEVICE uint32_t cnn_hidden_relu(uint32_t words[1], float first, float second, __nv_bfloat16)
{
    const __nv_bfloat162 zero = __floats2bfloat162_rn(0.0f, 0.0f);
    const __nv_bfloat162 pair = __hmax2_nan(__floats2bfloat162_rn(first, second), zero);
    words[0] = *(const uint32_t *)&pair;
    return __hgt2_mask(pair, zero);
}

// Two channels at a time. windows: [position][thread] of 16 bytes
template <typename Arithmetic, typename Convolution>
CNN_DEVICE void cnn_hidden_pool(cnn_hidden_pooled<Arithmetic> *pooled, const char *windows,
                                const cnn_hidden_batchnorm<Arithmetic> *batchnorm, const Convolution *)
{
    typedef typename cnn_hidden_pair<Convolution>::type pair;
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
            z[position] = cnn_hidden_pair_of<Convolution>((y[position][i] & batchnorm->keep[i]) ^ batchnorm->flip[i]);
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

template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_pool(cnn_hidden_pooled<Arithmetic> *pooled, const char *windows,
                                const cnn_hidden_batchnorm<Arithmetic> *batchnorm, const float *)
{
    float z[4][4];
#pragma unroll
    for (int position = 0; position < 4; position++) {
        cnn_load4(z[position], (const float *)(windows + position * CNN_HIDDEN_THREADS * 16));
#pragma unroll
        for (int i = 0; i < 4; i++)
            z[position][i] = fmaf(z[position][i], batchnorm->scale[i], batchnorm->shift[i]);
    }
    float best[4];
    pooled->codes[0] = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t code;
        best[i] = cnn_relu_pool(z[0][i], z[1][i], z[2][i], z[3][i], &code);
        pooled->codes[0] |= code << 8 * i;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        pooled->operands[i] = __float_as_uint(cnn_round<Arithmetic>(best[i]));
}

// Where the windows' winners are known: batchnorm and relu alone.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_normalise(cnn_hidden_pooled<Arithmetic> *pooled, const char *winners,
                                     const cnn_hidden_batchnorm<Arithmetic> *batchnorm)
{
    typedef typename Arithmetic::convolution convolution;
    enum { VECTOR = cnn_hidden_batchnorm<Arithmetic>::VECTOR, WORDS = sizeof(typename Arithmetic::operand) / 2 };
    float y[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; i += 4)
        cnn_load4(y + i, (const convolution *)winners + i);
#pragma unroll
    for (int i = 0; i < VECTOR; i += 2)
        cnn_hidden_relu<Arithmetic>(
            pooled->operands + i / 2 * WORDS, fmaf(y[i], batchnorm->scale[i], batchnorm->shift[i]),
            fmaf(y[i + 1], batchnorm->scale[i + 1], batchnorm->shift[i + 1]), typename Arithmetic::operand());
}

// --- one pixel -------------------------------------------------------------------------------------------------------

template <typename Arithmetic, int Positions>
CNN_DEVICE void cnn_hidden_load_batchnorm(cnn_hidden_batchnorm<Arithmetic> *batchnorm, const cnn_statistics *statistics,
                                          int channel)
{
    // On entry scale and shift are gamma and beta.
#pragma unroll
    for (int i = 0; i < cnn_hidden_batchnorm<Arithmetic>::VECTOR; i++) {
        const float scale = batchnorm->scale[i] * statistics->inverse_std[channel + i];
        batchnorm->shift[i] -= statistics->mean[channel + i] * scale;
        batchnorm->scale[i] = scale;
        if (Positions == 1 || sizeof(typename Arithmetic::convolution) == 4)
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

// Pools all of a pixel's windows: into the tile for its products, and into code2 and, if they are to be `left`, pooled2
// for the way back. Rows past the batch are zeros.
template <typename Arithmetic, int Positions>
CNN_DEVICE void
cnn_hidden_pool_pixel(char *to, const char *windows,
                      const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                      int tile, int pixel, const cnn_hidden_batchnorm<Arithmetic> *batchnorm, bool left)
{
    typedef cnn_hidden_plan<Arithmetic, Positions> plan;
    typedef typename plan::operand operand;
    enum { STORES = plan::VECTOR * sizeof(operand) / 16 };
    const int channel = threadIdx.x % plan::GROUPS * plan::VECTOR;
#pragma unroll
    for (int round = 0; round < plan::ROUNDS; round++) {
        const int row = (round * plan::THREADS + threadIdx.x) / plan::GROUPS, sample = tile * CNN_HIDDEN_TILE + row;
        const size_t at = ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 + channel;
        cnn_hidden_pooled<Arithmetic> pooled = {};
        if (sample < arguments.n) {
            const char *own = windows + (round * Positions * plan::THREADS + threadIdx.x) * 16;
            if (Positions == 1)
                cnn_hidden_normalise(&pooled, own, batchnorm);
            else
                cnn_hidden_pool(&pooled, own, batchnorm, (const typename plan::convolution *)NULL);
            if (left)
#pragma unroll
                for (int i = 0; i < STORES; i++)
                    __stcg((uint4 *)(arguments.workspace.pooled2 + at) + i, cnn_hidden_words(pooled.operands + 4 * i));
            if (Positions == 4 && plan::VECTOR == 8)
                *(uint2 *)(arguments.workspace.code2 + at) =
                    make_uint2(pooled.codes[0], pooled.codes[plan::VECTOR / 4 - 1]);
            else if (Positions == 4)
                *(uint32_t *)(arguments.workspace.code2 + at) = pooled.codes[0];
        }
#pragma unroll
        for (int i = 0; i < STORES; i++)
            ((uint4 *)(to + row * plan::PITCH + channel * sizeof(operand)))[i] =
                cnn_hidden_words(pooled.operands + 4 * i);
    }
}

// sum: (32, 16) += pooled (32, 64) * weight (16, 64) transposed; both begin at the warp's first row.
template <typename Arithmetic, int Positions>
CNN_DEVICE void cnn_hidden_products(float sum[2][2][4], const char *pooled, const char *weight)
{
    enum { PITCH = cnn_hidden_plan<Arithmetic, Positions>::PITCH };
    const int lane = threadIdx.x % 32;
    pooled += lane % 16 * PITCH + lane / 16 * 16;
    weight += (lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 16;
#pragma unroll 4
    for (int k = 0; k < PITCH - 16; k += CNN_FRAGMENT_BYTES) {
        uint32_t a[2][4], b[4];
        ldmatrix_x4(a[0], pooled + k);
        ldmatrix_x4(a[1], pooled + 16 * PITCH + k);
        ldmatrix_x4(b, weight + k);
#pragma unroll
        for (int i = 0; i < 2; i++)
            cnn_multiply_two<Arithmetic>(sum[i][0], sum[i][1], a[i], b);
    }
}

// partial: rows of 128, at the warp's first row and column
CNN_DEVICE void cnn_hidden_store(float *partial, const float sum[2][2][4])
{
    const int lane = threadIdx.x % 32;
    partial += lane / 4 * CNN_HIDDEN + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            __stcg((float2 *)(partial + i * 16 * CNN_HIDDEN + j * 8), make_float2(sum[i][j][0], sum[i][j][1]));
            __stcg((float2 *)(partial + (i * 16 + 8) * CNN_HIDDEN + j * 8), make_float2(sum[i][j][2], sum[i][j][3]));
        }
}

template <typename Arithmetic, int Positions>
__global__ void __launch_bounds__(cnn_hidden_plan<Arithmetic, Positions>::THREADS, 1)
    cnn_hidden_kernel(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                      cnn_cuts cuts, bool left)
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
    cnn_hidden_load_batchnorm<Arithmetic, Positions>(&batchnorm, &statistics, channel);

    float sum[2][2][4] = {};
#pragma unroll 1
    for (int pixel = -1; pixel < pixels; pixel++) { // whose products are made; the one after it is pooled
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
                                                                 arguments, tile, first + next, &batchnorm, left);
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
                     sum);
}

// Whether hidden_backward_wgmma.h runs after this: it makes pooled2 anew of the winners, which are no more bytes (in
// tf32 half as many), and so this kernel need not write it.
enum { CNN_TILES_OF_WINNERS = 4 }; // from which on it does in tf32
template <typename Arithmetic> static bool cnn_winners_suffice(const cnn_cuts &cuts)
{
    return sizeof(typename Arithmetic::operand) == 4 &&
           (sizeof(typename Arithmetic::convolution) == 4 || cuts.tiles >= CNN_TILES_OF_WINNERS);
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
                                        dim3(plan::THREADS), plan::SHARED_BYTES, stream, own, cuts,
                                        Positions == 4 || !cnn_winners_suffice<Arithmetic>(cuts));
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

#endif
