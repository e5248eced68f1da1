// Second kernel of a cnn_step: conv1 + batchnorm 1 + relu + pooling, and conv2 with the statistics of its output, one
// image at a time; between the two the image stays in shared memory.
//
// Reads images, order, cursor, moments, conv2_forward and the parameters of block 1. Writes pooled1, code1,
// convolution2, statistics2_partial; its first block also stem_statistics and stem_moments.
//
// conv1 is in forward_stem.h. conv2 is an implicit GEMM over the pooled image, kept as 16 × 16 pixels with a border of
// zeros: 16 pixels of a row are the 16 rows of a product, and a tap is a shift of the address. A warp has all 14 rows
// of 16 channels, so that a fragment of pixels serves three taps (those in one column) of two products each.
//
// Persistent blocks: a block takes images block, block + blocks, ... It has three parts of four warps. One computes
// pooled images, alternating between two tiles of shared memory. Each of the others has a tile, multiplies it, and
// rounds and stores the result, while the tensor cores work for the other. All three compute the first image together,
// and synchronise after each: while image i is multiplied, the one before is stored and the one after computed.
//
// Limited by: the products. An image takes 504 products on each of the four schedulers for conv2 and 50 for conv1, and
// mma.sync runs at half of Hopper's rate; the part that computes images waits for issue slots.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/dependent.h"

enum {
    // A scheduler of the SM has one warp of each part: 168 registers per thread, 112 of them accumulators.
    CNN_PART_WARPS = 4,
    CNN_PART_THREADS = CNN_PART_WARPS * 32,
    CNN_FORWARD_THREADS = 3 * CNN_PART_THREADS,

    CNN_WARP_CHANNELS = 16, // of conv2's, to a warp
};

template <typename Arithmetic> struct cnn_forward_shared {
    typedef typename Arithmetic::operand operand;
    operand weight[CNN_CHANNELS2 * CNN_PATCH]; // as in conv2_forward
    operand tile[2][cnn_tile<operand>::size];
    uint32_t stem[2 * CNN_STEM_WORDS];    // the images that conv1 reads
    float4 sums[2][2 * CNN_PART_THREADS]; // of a thread's four channels, over its images; then of squares
    double moments[CNN_MOMENTS];
    float stem_weight[CNN_CHANNELS1][CNN_TAPS]; // conv1's; then with batchnorm's scale, for bytes
    float stem_scale[CNN_CHANNELS1];            // gamma1
    float stem_bias[CNN_CHANNELS1];             // beta1; then conv1's bias with batchnorm's mean
};

// All parts synchronise here, each from its own place in the code. Two of them would suffice, but compute-sanitizer's
// racecheck does not recognise a barrier of part of a block.
CNN_DEVICE void cnn_forward_meet()
{
    enum { NAME = 1 };
    __barrier_sync_count(NAME, CNN_FORWARD_THREADS);
}

// --- conv2 -----------------------------------------------------------------------------------------------------------

template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_forward_load_weight(const Arguments &arguments, Shared *shared)
{
    const int copies = sizeof shared->weight / 16;
    for (int i = threadIdx.x; i < copies; i += CNN_FORWARD_THREADS)
        cp_async_16((uint4 *)shared->weight + i, (const uint4 *)arguments.workspace.conv2_forward + i);
    cp_async_commit();
}

// sum[y][j] = 16 pixels of output row y times 8 channels, twice, over all K: taps from left to right, 32 bytes of input
// channels at a time; in each of these steps the sixteen rows of pixels once, each for the outputs above, at and below
// it.
template <typename Arithmetic, typename Shared>
CNN_DEVICE void cnn_forward_multiply(float sum[CNN_SIDE1][2][4], const Shared *shared,
                                     const typename Arithmetic::operand *tile)
{
    typedef typename Arithmetic::operand operand;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % CNN_PART_WARPS;
    typedef cnn_tile<operand> Tile;
    const int chunk = Tile::chunk, plane = Tile::plane * chunk, fragments = CNN_CHANNELS1 / chunk / 2; // along channels
    const int tile_row = CNN_TILE_SIDE * chunk, ahead = 3, steps = 3 * fragments;
    const int weight_fragment = 2 * CNN_CHANNELS2 * chunk, weight_tap = fragments * weight_fragment;
    const operand *pixels = tile + lane / 16 * plane + lane % 16 * chunk;
    const operand *weight =
        shared->weight + (lane / 8 % 2 * CNN_CHANNELS2 + warp * CNN_WARP_CHANNELS + lane / 16 * 8 + lane % 8) * chunk;
#pragma unroll
    for (int y = 0; y < CNN_SIDE1; y++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            sum[y][i / 4][i % 4] = 0;
    // Fragments are loaded some products ahead of their use: a row of pixels three rows ahead; the weights of a tap
    // when those of the step before are no longer needed, which is in the last rows, or in the first for the lowest
    // tap.
    uint32_t a[ahead + 1][4], b[3][4];
#pragma unroll
    for (int row = 0; row < ahead; row++)
        ldmatrix_x4(a[row], pixels + row * tile_row);
    ldmatrix_x4(b[0], weight);
    ldmatrix_x4(b[1], weight + 3 * weight_tap);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int next = step + 1 < steps ? step + 1 : step;
        const operand *pixels_now = pixels + step % 3 * chunk + step / 3 * 2 * plane;
        const operand *pixels_next = pixels + next % 3 * chunk + next / 3 * 2 * plane;
        const operand *weight_now = weight + step % 3 * weight_tap + step / 3 * weight_fragment;
        const operand *weight_next = weight + next % 3 * weight_tap + next / 3 * weight_fragment;
        ldmatrix_x4(b[2], weight_now + 6 * weight_tap);
#pragma unroll
        for (int row = 0; row < CNN_TILE_SIDE; row++) {
            const int coming = row + ahead, beyond = coming - CNN_TILE_SIDE;
            ldmatrix_x4(a[coming % (ahead + 1)],
                        beyond < 0 ? pixels_now + coming * tile_row : pixels_next + beyond * tile_row);
            if (row >= CNN_SIDE1)
                ldmatrix_x4(b[row - CNN_SIDE1], weight_next + (row - CNN_SIDE1) * 3 * weight_tap);
#pragma unroll
            for (int r = 0; r < 3; r++)
                if (row - r >= 0 && row - r < CNN_SIDE1)
                    cnn_multiply_two<Arithmetic>(sum[row - r][0], sum[row - r][1], a[row % (ahead + 1)], b[r]);
        }
    }
}

template <typename Convolution> CNN_DEVICE void cnn_convolution_store(Convolution *to, const float values[4])
{
    uint2 bits;
    Convolution *four = (Convolution *)&bits;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four[i] = cnn_keep<Convolution>(values[i]);
    *(uint2 *)to = bits;
}

// Rounds and stores conv2's output of one image, and adds it to the thread's sums.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_forward_store(const Arguments &arguments, int image, const float sum[CNN_SIDE1][2][4],
                                  Shared *shared)
{
    const int lane = threadIdx.x % 32, group = lane / 4, warp = threadIdx.x / 32 % CNN_PART_WARPS;
    const int channel = warp * CNN_WARP_CHANNELS + lane % 4 * 4;
    float sums[4] = {0, 0, 0, 0}, squares[4] = {0, 0, 0, 0};
#pragma unroll
    for (int y = 0; y < CNN_SIDE1; y++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int x = half * 8 + group;
            if (x >= CNN_SIDE1)
                continue;
            const float four[4] = {sum[y][0][half * 2], sum[y][0][half * 2 + 1], sum[y][1][half * 2],
                                   sum[y][1][half * 2 + 1]};
            const size_t at = (((size_t)image * CNN_SIDE1 + y) * CNN_SIDE1 + x) * CNN_CHANNELS2 + channel;
            cnn_convolution_store(arguments.workspace.convolution2 + at, four);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sums[i] += four[i];
                squares[i] = fmaf(four[i], four[i], squares[i]);
            }
        }
    float4 *total = &shared->sums[0][threadIdx.x], *total_square = &shared->sums[1][threadIdx.x];
    *total = make_float4(total->x + sums[0], total->y + sums[1], total->z + sums[2], total->w + sums[3]);
    *total_square = make_float4(total_square->x + squares[0], total_square->y + squares[1],
                                total_square->z + squares[2], total_square->w + squares[3]);
}

// --- statistics ------------------------------------------------------------------------------------------------------

// Adds the threads' sums in a fixed order.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_forward_statistics(const Arguments &arguments, Shared *shared)
{
    __syncthreads();
    if (threadIdx.x >= 2 * CNN_CHANNELS2)
        return;
    const int kind = threadIdx.x / CNN_CHANNELS2, channel = threadIdx.x % CNN_CHANNELS2;
    const int warp = channel / CNN_WARP_CHANNELS, t = channel % CNN_WARP_CHANNELS / 4;
    double sum = 0;
    for (int part = 0; part < 2; part++)
        for (int group = 0; group < 8; group++) {
            const int thread = part * CNN_PART_THREADS + warp * 32 + group * 4 + t;
            sum += ((const float *)&shared->sums[kind][thread])[channel % 4];
        }
    cnn_statistics_leave(arguments, (float)sum);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// The part that computes the pooled images after the first. Image i's bytes are read two images before, and unpacked
// one image before.
template <typename Arithmetic, typename Arguments, typename Shared, int Parts>
CNN_DEVICE void cnn_forward_produce(const Arguments &arguments, Shared *shared, const cnn_stem_weight<Parts> &weight,
                                    int count)
{
    const int thread = threadIdx.x % CNN_PART_THREADS, words = CNN_IMAGE_WORDS - CNN_PART_THREADS;
    const uint8_t *next = cnn_own_pixels(arguments, 2, count);
    for (int i = 1; i < count; i++) {
        uint32_t bytes[2] = {0, 0};
        if (i + 1 < count) {
            bytes[0] = cnn_pixels4(next + thread * 4);
            bytes[1] = thread < words ? cnn_pixels4(next + (CNN_PART_THREADS + thread) * 4) : 0;
        }
        next = cnn_own_pixels(arguments, i + 2, count);
        cnn_stem_forward<Arithmetic, CNN_PART_WARPS>(arguments, blockIdx.x + i * gridDim.x,
                                                     shared->stem + i % 2 * CNN_STEM_WORDS, shared->tile[i % 2], weight,
                                                     threadIdx.x / 32 % CNN_PART_WARPS);
        if (i + 1 < count) {
            cnn_stem_unpack(shared->stem + (i + 1) % 2 * CNN_STEM_WORDS, thread, bytes[0]);
            if (thread < words)
                cnn_stem_unpack(shared->stem + (i + 1) % 2 * CNN_STEM_WORDS, CNN_PART_THREADS + thread, bytes[1]);
        }
        cnn_forward_meet();
    }
    cnn_forward_meet(); // the last image has been multiplied
    cnn_forward_meet(); // and stored
}

// A part that multiplies and stores: the block's even images, or its odd ones. It meets the others once per image of
// either part, and once more.
template <typename Arithmetic, typename Arguments, typename Shared>
CNN_DEVICE void cnn_forward_convolve(const Arguments &arguments, Shared *shared, int part, int count)
{
    if (part == 1)
        cnn_forward_meet();
    for (int i = part; i < count; i += 2) {
        float sum[CNN_SIDE1][2][4];
        cnn_forward_multiply<Arithmetic>(sum, shared, shared->tile[part]);
        cnn_forward_meet();
        cnn_forward_store(arguments, blockIdx.x + i * gridDim.x, sum, shared);
        cnn_forward_meet();
    }
    if (part == count % 2)
        cnn_forward_meet();
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(CNN_FORWARD_THREADS, 1)
    cnn_forward(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    extern __shared__ uint4 cnn_forward_memory[];
    typedef cnn_forward_shared<Arithmetic> shared_type;
    shared_type *shared = (shared_type *)cnn_forward_memory;
    const int part = threadIdx.x / CNN_PART_THREADS, count = (arguments.n - 1 - (int)blockIdx.x) / (int)gridDim.x + 1;
    cnn_tile_clear(shared->tile[0], 2, CNN_FORWARD_THREADS);
    cnn_stem_clear(shared->stem, 2, CNN_FORWARD_THREADS);
    const double inverse = 1 / ((double)arguments.n * CNN_PIXELS);
    __syncthreads();
    // The launch before released this one after its own wait, so that everything older is ready: images.
    enum { ADDING = CNN_FORWARD_THREADS - CNN_UNPACK_THREADS };
    const int adding = (int)threadIdx.x - CNN_UNPACK_THREADS;
    if (adding < 0)
        cnn_stem_first_images(arguments, shared->stem, shared->stem + CNN_STEM_WORDS, count);
    heddle_wait_for_previous();
    heddle_release_next();

    cnn_forward_load_weight(arguments, shared);
    if (cnn_stem_is_folded(arguments)) {
        cnn_stem_take_folded<CNN_FORWARD_THREADS>(arguments, shared);
    } else {
        if (adding >= 0)
            cnn_stem_add_moments<ADDING>(arguments, shared->sums, adding);
        else
            cnn_stem_load_parameters(arguments, shared, threadIdx.x, CNN_UNPACK_THREADS);
        __syncthreads();
        cnn_stem_end_moments<ADDING>(shared->sums, shared->moments,
                                     blockIdx.x == 0 ? arguments.workspace.stem_moments : NULL);
        __syncthreads();
        cnn_stem_fold(arguments, shared, inverse);
    }
    if (part < 2)
        shared->sums[0][threadIdx.x] = shared->sums[1][threadIdx.x] = make_float4(0, 0, 0, 0);
    __syncthreads();
    cnn_stem_weight<cnn_stem_parts<Arithmetic>::count> weight;
    cnn_stem_load(&weight, shared);
    cnn_stem_forward<Arithmetic, CNN_FORWARD_THREADS / 32>(arguments, blockIdx.x, shared->stem, shared->tile[0], weight,
                                                           threadIdx.x / 32);
    cp_async_wait_all();
    __syncthreads();
    if (part < 2)
        cnn_forward_convolve<Arithmetic>(arguments, shared, part, count);
    else
        cnn_forward_produce<Arithmetic>(arguments, shared, weight, count);
    cnn_forward_statistics(arguments, shared);
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_forward(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                   cudaStream_t stream)
{
    const int bytes = sizeof(cnn_forward_shared<Arithmetic>);
    const cudaError_t error =
        cudaFuncSetAttribute(cnn_forward<Arithmetic>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_forward<Arithmetic>, arguments.forward_blocks, CNN_FORWARD_THREADS, bytes,
                                        stream, arguments);
}
