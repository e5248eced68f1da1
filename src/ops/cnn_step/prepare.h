// First kernel of a cnn_step: what forward.h needs to know about the batch and the weights before it begins.
//
// Batchnorm 1 needs no pass over conv1's output y = sum of w[i] * x[i] over the nine pixels x of a patch. Its mean is
// linear in the sums of x[i], its mean square quadratic in the sums of x[i] * x[j]: 54 numbers for the whole batch,
// whatever the weights. Pixels are bytes, so the sums are integers and exact, and __dp4a adds four products at a time.
//
// Reads images, order, cursor, conv2_weight, hidden_weight. Writes moments (one row for each of the first blocks, which
// forward.h adds), conv2_forward, conv2_parts and conv2_scale, conv2_backward, hidden, and clears the counters for the
// kernels after it.
//
// First come the blocks of moments, one warp per image, then CNN_PACK_CONV2_BLOCKS that pack conv2's weight, one piece
// each, then CNN_HIDDEN that pack one row each of the hidden layer's. Limited by: latency. The chain cursor, order,
// pixels is three trips to memory before the first product, and a block does little after it; the bytes (1.6 MB of
// weights, 784 per image) would take a microsecond. So a warp follows the chain before it waits for the step before,
// starting from the current cursor, and once more only if the cursor has changed by the end of the wait.
#pragma once

#include <type_traits>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/dependent.h"

enum {
    CNN_PREPARE_WARPS = 8,
    CNN_PREPARE_THREADS = CNN_PREPARE_WARPS * 32,
    CNN_WORDS = CNN_SIDE / 4, // of four pixels, in a row of an image

    // Lanes of a warp that have pixels: CNN_WORDS columns of words times four strips of rows.
    CNN_STRIPS = 4,
    CNN_STRIP_ROWS = CNN_SIDE / CNN_STRIPS,
    CNN_MOMENT_LANES = CNN_WORDS * CNN_STRIPS,

    // A moment of an image is at most 784 * 255 * 255; this many of them still fit into 32 bits.
    CNN_IMAGES_IN_32_BITS = 64,

    // conv2's weight is packed in pieces of 8 input and 16 output channels, so that a block writes whole sectors in
    // both layouts.
    CNN_PACK_CHANNELS = 8,
    CNN_PACK_OUTPUTS = 16,
    CNN_PACK_CONV2_BLOCKS = CNN_CHANNELS1 / CNN_PACK_CHANNELS * (CNN_CHANNELS2 / CNN_PACK_OUTPUTS),
    CNN_PACK_COLUMNS = CNN_PACK_CHANNELS * CNN_TAPS,
    CNN_PACK_PITCH = CNN_PACK_COLUMNS + 1, // odd, so that a column's elements lie in different banks
};

// Blocks that take moments, and so rows of workspace.moments. Up to 128 samples have an SM each; more share it.
static inline __host__ __device__ int cnn_moment_blocks(int n)
{
    const int full = (n + CNN_PREPARE_WARPS - 1) / CNN_PREPARE_WARPS, fewest = n < 128 ? n : 128;
    return full < fewest ? fewest : full < CNN_PREPARE_BLOCKS ? full : (int)CNN_PREPARE_BLOCKS;
}

// Whether one block's sums fit in 32 bits: then the upper halves of the sums are neither written nor read.
static inline __host__ __device__ bool cnn_moments_in_32_bits(int n)
{
    return n <= CNN_IMAGES_IN_32_BITS * cnn_moment_blocks(n);
}

// --- moments ---------------------------------------------------------------------------------------------------------

// What a lane reads of an image: a column of words, the rows of its strip of outputs and one more above and below.
struct cnn_moment_rows {
    uint32_t word[CNN_STRIP_ROWS + 2];
};
CNN_DEVICE cnn_moment_rows cnn_moment_rows_of(const uint8_t *image)
{
    const int lane = threadIdx.x % 32, strip = lane / CNN_WORDS, column = lane % CNN_WORDS;
    const int top = strip * CNN_STRIP_ROWS - 1;
    cnn_moment_rows rows; // all in flight before the first is used
#pragma unroll
    for (int i = 0; i < CNN_STRIP_ROWS + 2; i++) {
        const int y = top + i;
        const bool inside = lane < CNN_MOMENT_LANES && y >= 0 && y < CNN_SIDE;
        rows.word[i] = inside ? cnn_pixels4(image + y * CNN_SIDE + column * 4) : 0;
    }
    return rows;
}

// Adds the moments of this lane's strip of one image: output rows strip * 7 ... + 6, four outputs wide.
CNN_DEVICE void cnn_moments_of_image(uint32_t sums[CNN_MOMENTS], const cnn_moment_rows &rows)
{
    const int column = threadIdx.x % 32 % CNN_WORDS;
    uint32_t patch[CNN_STRIP_ROWS + 2][3]; // [row][s]: the pixels that tap s of four adjacent outputs sees
#pragma unroll
    for (int i = 0; i < CNN_STRIP_ROWS + 2; i++) {
        const uint32_t word = rows.word[i];
        const uint32_t before = __shfl_up_sync(0xffffffffu, word, 1), after = __shfl_down_sync(0xffffffffu, word, 1);
        patch[i][0] = __funnelshift_r(column > 0 ? before : 0, word, 24);
        patch[i][1] = word;
        patch[i][2] = __funnelshift_r(word, column < CNN_WORDS - 1 ? after : 0, 8);
    }
    const uint32_t ones = 0x01010101u;
#pragma unroll
    for (int y = 0; y < CNN_STRIP_ROWS; y++)
#pragma unroll
        for (int i = 0; i < CNN_TAPS; i++) {
            sums[i] = __dp4a(patch[y + i / 3][i % 3], ones, sums[i]);
#pragma unroll
            for (int j = i; j < CNN_TAPS; j++)
                sums[CNN_MOMENT(i, j)] =
                    __dp4a(patch[y + i / 3][i % 3], patch[y + j / 3][j % 3], sums[CNN_MOMENT(i, j)]);
        }
}

// Adds `Count` sums of a warp over pairs of its lanes and leaves half of them in each lane of a pair: the first half in
// the lane whose number does not have the bit `distance`.
template <int Count> CNN_DEVICE void cnn_moments_halve(uint32_t sums[Count], int distance)
{
    enum { HALF = (Count + 1) / 2 };
    const bool upper = threadIdx.x & distance;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const uint32_t second = HALF + i < Count ? sums[HALF + i] : 0;
        const uint32_t given = upper ? sums[i] : second, kept = upper ? second : sums[i];
        sums[i] = kept + __shfl_xor_sync(0xffffffffu, given, distance);
    }
}

// Pixels of image `image` of the batch that begins at `cursor`.
template <typename Arguments>
CNN_DEVICE const uint8_t *cnn_batch_pixels(const Arguments &arguments, int64_t cursor, int image)
{
    return arguments.operands.images + (size_t)arguments.operands.order[cursor + image] * CNN_PIXELS;
}

// A block's share of the batch that begins at `cursor`: images `block`, `block + blocks`, ..., one warp each. `rows`
// are of the warp's first, if there is one and they are `there`.
template <typename Arguments>
CNN_DEVICE void cnn_moments(const Arguments &arguments, int block, int blocks, int64_t cursor, bool there,
                            cnn_moment_rows rows)
{
    __shared__ unsigned long long totals[CNN_PREPARE_WARPS][CNN_MOMENTS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, stride = blocks * CNN_PREPARE_WARPS;
    unsigned long long total[2] = {0, 0};
    int image = block + warp * blocks;
    while (image < arguments.n) {
        uint32_t sums[CNN_MOMENTS] = {0};
        for (int i = 0; i < CNN_IMAGES_IN_32_BITS && image < arguments.n; i++, image += stride, there = false) {
            if (!there)
                rows = cnn_moment_rows_of(cnn_batch_pixels(arguments, cursor, image));
            cnn_moments_of_image(sums, rows);
        }
        static_assert(CNN_MOMENTS == 54, "halves of 54: 27, 14, 7, 4 and 2");
        cnn_moments_halve<54>(sums, 16);
        cnn_moments_halve<27>(sums, 8);
        cnn_moments_halve<14>(sums, 4);
        cnn_moments_halve<7>(sums, 2);
        cnn_moments_halve<4>(sums, 1);
        total[0] += sums[0], total[1] += sums[1];
    }
#pragma unroll
    for (int i = 0; i < 2; i++) { // which of the moments it was; in the halves of odd numbers some are none
        const int of4 = i + lane % 2 * 2, of7 = of4 + lane / 2 % 2 * 4, of14 = of7 + lane / 4 % 2 * 7;
        const int of27 = of14 + lane / 8 % 2 * 14;
        if (of7 < 7 && of27 < 27)
            totals[warp][of27 + lane / 16 * 27] = total[i];
    }
    __syncthreads();
    if (threadIdx.x < CNN_MOMENTS) {
        unsigned long long sum = 0;
        for (int i = 0; i < CNN_PREPARE_WARPS; i++)
            sum += totals[i][threadIdx.x];
        uint32_t *moments = arguments.workspace.moments + block * CNN_MOMENTS + threadIdx.x;
        moments[0] = (uint32_t)sum;
        if (!cnn_moments_in_32_bits(arguments.n))
            moments[blocks * CNN_MOMENTS] = (uint32_t)(sum >> 32);
    }
}

// --- weights ---------------------------------------------------------------------------------------------------------

// conv2_forward has the output channels in the order in which forward.h's products take them: 16 per warp, such that
// one lane's columns (2t and 2t + 1 of each eight) are four adjacent channels.
CNN_DEVICE int cnn_conv2_channel(int row)
{
    return row / 16 * 16 + row % 8 / 2 * 4 + row % 16 / 8 * 2 + row % 2;
}

// On Hopper, conv2's weight for arithmetics of float operands is half: as much mantissa as tf32, or two of them for
// nearly fp32, at twice the rate. What half lacks is range, so it is multiplied by a power of two; one for all, so that
// a block that packs a piece need not know the others. Weights of 64 and more become infinite, and the loss NaN, as in
// any network that diverges; those below 1e-7 lose digits.
#define CNN_CONV2_SCALE 1024.0f
template <typename Arithmetic> struct cnn_half_parts {
    enum { COUNT = 0 };
};
template <> struct cnn_half_parts<cnn_tf32> {
    enum { COUNT = 1 };
};
template <> struct cnn_half_parts<cnn_tf32x3> {
    enum { COUNT = 2 };
};

// The same holds for the operands of the hidden layer's products, if arguments.in_halves. Its weight has one power of
// two for all, too; weights of 256 and more become infinite.
template <typename Arithmetic> struct cnn_hidden_halves {
    enum { SCALED = cnn_half_parts<Arithmetic>::COUNT > 0, PARTS = cnn_half_parts<Arithmetic>::COUNT > 1 ? 2 : 1 };
    typedef typename std::conditional<SCALED, __half, typename Arithmetic::operand>::type element;
};
#define CNN_HIDDEN_WEIGHT_SCALE 256.0f

// Four neighbours of the packed hidden weight, `at` elements from its beginning.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_store_hidden(const Arguments &arguments, size_t at, const float four[4])
{
    typedef cnn_hidden_halves<Arithmetic> halves;
    if constexpr (halves::SCALED)
        if (arguments.in_halves) {
            __half *to = (__half *)arguments.workspace.hidden + at;
            float rest[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                rest[i] = four[i] * CNN_HIDDEN_WEIGHT_SCALE;
#pragma unroll
            for (int part = 0; part < halves::PARTS; part++, to += CNN_HIDDEN * CNN_FEATURES) {
                __half rounded[4];
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    rounded[i] = __float2half_rn(rest[i]);
                    rest[i] -= __half2float(rounded[i]);
                }
                cnn_store2(to, rounded[0], rounded[1]);
                cnn_store2(to + 2, rounded[2], rounded[3]);
            }
            return;
        }
    cnn_store4<Arithmetic>(arguments.workspace.hidden + at, four);
}

// Four input channels of one output channel and tap, in parts.
template <int Parts, typename Arguments>
CNN_DEVICE void cnn_pack_parts(const Arguments &arguments, int out, int along, const float four[4])
{
    float rest[4] = {four[0] * CNN_CONV2_SCALE, four[1] * CNN_CONV2_SCALE, four[2] * CNN_CONV2_SCALE,
                     four[3] * CNN_CONV2_SCALE};
    __half *parts = (__half *)arguments.workspace.conv2_parts;
#pragma unroll
    for (int part = 0; part < Parts; part++, parts += CNN_CHANNELS2 * CNN_PATCH) {
        cnn_store4<cnn_fp16>(parts + (along / 8 * CNN_CHANNELS2 + out) * 8 + along % 8, rest);
#pragma unroll
        for (int i = 0; i < 4; i++)
            rest[i] -= __half2float(__float2half_rn(rest[i]));
    }
}

// One piece of conv2's weight (64 out, 32 in, 9 taps), through shared memory: read along the taps, written along the
// channels.
template <typename Arithmetic, typename Arguments> CNN_DEVICE void cnn_pack_conv2(const Arguments &arguments, int piece)
{
    typedef typename Arithmetic::operand operand;
    enum { ELEMENTS = CNN_PACK_OUTPUTS * CNN_PACK_COLUMNS, PARTS = cnn_half_parts<Arithmetic>::COUNT };
    __shared__ float tile[CNN_PACK_OUTPUTS * CNN_PACK_PITCH]; // [out][in, tap]
    const int first_in = piece % (CNN_CHANNELS1 / CNN_PACK_CHANNELS) * CNN_PACK_CHANNELS;
    const int first_out = piece / (CNN_CHANNELS1 / CNN_PACK_CHANNELS) * CNN_PACK_OUTPUTS;
    const float *weight = arguments.operands.parameters.conv2_weight + first_out * CNN_PATCH + first_in * CNN_TAPS;
#pragma unroll
    for (int k = 0; k < (ELEMENTS + CNN_PREPARE_THREADS - 1) / CNN_PREPARE_THREADS; k++) {
        const int i = k * CNN_PREPARE_THREADS + threadIdx.x, out = i / CNN_PACK_COLUMNS, column = i % CNN_PACK_COLUMNS;
        if (i < ELEMENTS)
            tile[out * CNN_PACK_PITCH + column] = weight[out * CNN_PATCH + column];
    }
    if (PARTS > 0 && first_in == 0 && threadIdx.x < CNN_PACK_OUTPUTS)
        arguments.workspace.conv2_scale[first_out + threadIdx.x] = CNN_CONV2_SCALE;
    __syncthreads();
    const int chunk = 16 / sizeof(operand); // elements
    for (int i = threadIdx.x; i < ELEMENTS / 4; i += CNN_PREPARE_THREADS) {
        const int row = i % CNN_PACK_OUTPUTS, tap = i / CNN_PACK_OUTPUTS % CNN_TAPS;
        const int in = i / (CNN_PACK_OUTPUTS * CNN_TAPS) * 4, along = tap * CNN_CHANNELS1 + first_in + in;
        const float *from = tile + cnn_conv2_channel(row) * CNN_PACK_PITCH + in * CNN_TAPS + tap;
        const float four[4] = {from[0], from[CNN_TAPS], from[2 * CNN_TAPS], from[3 * CNN_TAPS]};
        const int to = (along / chunk * CNN_CHANNELS2 + first_out + row) * chunk + along % chunk;
        cnn_store4<Arithmetic>(arguments.workspace.conv2_forward + to, four);
        const int channel = cnn_conv2_channel(row);
        if (PARTS > 0)
            cnn_pack_parts<PARTS>(arguments, first_out + channel, along, four);
        else
            cnn_store4<Arithmetic>((operand *)arguments.workspace.conv2_parts +
                                       (along / chunk * CNN_CHANNELS2 + first_out + channel) * chunk + along % chunk,
                                   four);
    }
    for (int i = threadIdx.x; i < ELEMENTS; i += CNN_PREPARE_THREADS) {
        const int out = i % CNN_PACK_OUTPUTS, tap = i / CNN_PACK_OUTPUTS % CNN_TAPS;
        const int in = i / (CNN_PACK_OUTPUTS * CNN_TAPS), to = (first_in + in) * CNN_TAPS + tap;
        const operand value = cnn_round<Arithmetic>(tile[out * CNN_PACK_PITCH + in * CNN_TAPS + CNN_TAPS - 1 - tap]);
        arguments.workspace.conv2_backward[to * CNN_CHANNELS2 + first_out + out] = value;
    }
}

// One row of the hidden layer's weight, from (channel, pixel) to (pixel, channel).
template <typename Arithmetic, typename Arguments> CNN_DEVICE void cnn_pack_hidden(const Arguments &arguments, int row)
{
    __shared__ float features[CNN_FEATURES]; // [channel][pixel]; 49 is odd, so that a pixel's channels are in all banks
    const float *weight = arguments.operands.parameters.hidden_weight + (size_t)row * CNN_FEATURES;
#pragma unroll // so that all loads are in flight at once
    for (int k = 0; k < (CNN_FEATURES + CNN_PREPARE_THREADS - 1) / CNN_PREPARE_THREADS; k++) {
        const int i = k * CNN_PREPARE_THREADS + threadIdx.x;
        if (i < CNN_FEATURES)
            features[i] = weight[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CNN_FEATURES / 4; i += CNN_PREPARE_THREADS) {
        const int pixel = i / (CNN_CHANNELS2 / 4), channel = i % (CNN_CHANNELS2 / 4) * 4;
        float four[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            four[j] = features[(channel + j) * CNN_PIXELS2 + pixel];
        cnn_store_hidden<Arithmetic>(arguments, (size_t)row * CNN_FEATURES + i * 4, four);
    }
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// Each step's batch in cnn_train, and its hyper-parameters. Others read these: `cursor` changes while a step still
// runs, and what is copied here is one trip to memory away.
CNN_DEVICE void cnn_write_cursors(const cnn_training &training, const int64_t *cursor, int n)
{
    const int64_t position = cursor[0], steps = cursor[1];
    for (int i = threadIdx.x; i <= training.steps; i += CNN_PREPARE_THREADS) {
        const int64_t here = position + (int64_t)i * n;
        training.cursors[i * HEDDLE_CURSOR_COUNT] =
            i == training.steps ? HEDDLE_CNN_TRAIN_WRAPPED(here, training.order_length, n * training.steps) : here;
        training.cursors[i * HEDDLE_CURSOR_COUNT + 1] = steps + i;
    }
    for (int i = threadIdx.x; i < (training.steps + 1) * HEDDLE_HYPER_COUNT; i += CNN_PREPARE_THREADS) {
        const int64_t row = min(steps + i / HEDDLE_HYPER_COUNT, (int64_t)training.schedule_length - 1);
        training.hypers[i] = training.operands.schedule[row * HEDDLE_HYPER_COUNT + i % HEDDLE_HYPER_COUNT];
    }
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(CNN_PREPARE_THREADS)
    cnn_prepare(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    const int moment_blocks = cnn_moment_blocks(arguments.n), block = blockIdx.x;
    const int first = block + threadIdx.x / 32 * moment_blocks; // image of this warp
    int64_t guess = -1;
    cnn_moment_rows rows = {};
    if (block < moment_blocks && first < arguments.n) {
        guess = *(const volatile int64_t *)arguments.operands.cursor;
        rows = cnn_moment_rows_of(cnn_batch_pixels(arguments, guess, first));
    }
    heddle_wait_for_previous(); // the step before moves the cursor and changes the weights
    heddle_release_next();
    const int64_t cursor = *arguments.operands.cursor;
    if (block == 0) {
        if (threadIdx.x < CNN_COUNTERS)
            arguments.workspace.counters[threadIdx.x] = 0;
        if (arguments.training.cursors)
            cnn_write_cursors(arguments.training, arguments.operands.cursor, arguments.n);
    }
    if (block < moment_blocks)
        cnn_moments(arguments, block, moment_blocks, cursor, cursor == guess, rows);
    else if (block < moment_blocks + CNN_PACK_CONV2_BLOCKS)
        cnn_pack_conv2<Arithmetic>(arguments, block - moment_blocks);
    else
        cnn_pack_hidden<Arithmetic>(arguments, block - moment_blocks - CNN_PACK_CONV2_BLOCKS);
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_prepare(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                   cudaStream_t stream)
{
    const unsigned blocks = cnn_moment_blocks(arguments.n) + CNN_PACK_CONV2_BLOCKS + CNN_HIDDEN;
    return heddle_cuda_launch_dependent(cnn_prepare<Arithmetic>, blocks, CNN_PREPARE_THREADS, 0, stream, arguments);
}
