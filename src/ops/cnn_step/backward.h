// The gradient through block 2 and block 1, one image at a time: batchnorm 2 and its pooling backward, conv2's weight
// and input, pooling 1, and the sums for conv1's gradient. Only sums leave the chip.
//
//   grad of conv2's output = gamma inverse_std (dz - mean(dz) - normalised mean(dz normalised)), where dz is
//   grad_pooled2 at each window's winner and zero elsewhere: dense, recomputed from convolution2, code2 and sums2
//
// Reads grad_pooled2, code2, convolution2, statistics2, sums2_partial, gamma2, pooled1, code1, conv2_backward and the
// images' bytes; writes, for each block, grad_conv2_partial and stem_sums_partial.
//
// A block takes every backward_blocks-th image. Its warps have three roles, which synchronise when an image has
// arrived:
//   weight  8 warps keep the gradient of conv2's weight in registers, from the first image to the last
//   data    4 warps compute the gradient of conv2's input, one image's in registers, and continue, masked by code1,
//   with
//           conv1's sums: products of the winners' gradient and the pixels under each tap
//   stage   4 warps load the next image: conv2's output gradient through their registers, the rest by copies
// If there are fewer images than half the SMs, two blocks share one: each has half of the weight's outputs and half of
// the input's channels, and both stage the whole image. All stages are double-buffered, so warps wait only for data.
//
// The loops are short on purpose: three roles run at once, and their code has to share the instruction cache.
//
// Limited by: the latency of a data warp for an image, its products and then conv1's sums, one warp per quarter of an
// SM; below that by the tensor cores' rate at mma.sync, with an eighth of the fragments padding (14 pixels taken as
// 16), and by shared memory, which serves about one 128-byte wavefront per product.
#pragma once

#include <cuda_runtime.h>

#include "ops/cnn_step/backward_products.h"
#include "ops/cnn_step/backward_stage.h"
#include "ops/cnn_step/sums2.h"
#include "ops/cuda/dependent.h"

// --- weight warps ----------------------------------------------------------------------------------------------------

// Stores a warp's sums to the block's partial gradient.
template <int Tiles>
CNN_DEVICE void cnn_weight_store(float *partial, const float (*sum)[CNN_TAPS][4], int first_output, int first_input,
                                 int lane)
{
#pragma unroll
    for (int tile = 0; tile < Tiles; tile++)
#pragma unroll
        for (int lower = 0; lower < 2; lower++)
#pragma unroll
            for (int tap = 0; tap < CNN_TAPS; tap++) {
                const int output = first_output + tile * 16 + lower * 8 + lane / 4;
                float *to = partial + output * CNN_PATCH + tap * CNN_CHANNELS1 + first_input + lane % 4 * 2;
                cnn_store2(to, sum[tile][tap][lower * 2], sum[tile][tap][lower * 2 + 1]);
            }
}

template <typename Arithmetic, int Parts, typename Arguments>
CNN_DEVICE void cnn_weight_role(const Arguments &arguments, const char *shared, int warp, int lane)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum { TILES = 2 / Parts };
    const int first_output = (blockIdx.y * 2 + warp % 2) * TILES * 16, first_input = warp / 2 * 8;
    float *partial = arguments.workspace.grad_conv2_partial + (size_t)blockIdx.x * CNN_CHANNELS2 * CNN_PATCH;
    float sum[TILES][CNN_TAPS][4] = {};
    int stage = 0;
    for (int image = blockIdx.x; image < arguments.n; image += gridDim.x, stage ^= 1) {
        __barrier_sync_count(CNN_IMAGE_FULL, CNN_BACKWARD_THREADS);
        cnn_weight_gradient<Arithmetic, TILES>(sum, shared + tiles::GRAD_AT + stage * tiles::GRAD,
                                               shared + tiles::POOLED_AT + stage * tiles::POOLED, first_output,
                                               first_input, lane);
    }
    cnn_weight_store<TILES>(partial, sum, first_output, first_input, lane);
}

// --- data warps ------------------------------------------------------------------------------------------------------

template <typename Arithmetic, typename Workspace>
CNN_DEVICE void cnn_data_weight(const Workspace &workspace, char *weight, int thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum { ROW_PARTS = tiles::WEIGHT_ROW / CNN_PART, TAP_PARTS = tiles::GRAD_PIXEL / CNN_PART };
#pragma unroll 4
    for (int i = thread; i < CNN_CHANNELS1 * ROW_PARTS; i += CNN_DATA_THREADS) {
        const int row = cnn_weight_row(i / ROW_PARTS), tap = i % ROW_PARTS / TAP_PARTS, part = i % TAP_PARTS;
        cp_async_16(weight + row * tiles::WEIGHT_ROW + tap * tiles::GRAD_PIXEL + (part ^ (row & 7)) * CNN_PART,
                    (const char *)workspace.conv2_backward + i * CNN_PART);
    }
}

// Stores conv1's sums of a data warp to `exchange`, [32 channels][CNN_STEM_SUMS].
CNN_DEVICE void cnn_stem_leave(float *exchange, const float (*stem)[4], int first_channel, int lane)
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tap = i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (tap < CNN_STEM_SUMS)
            exchange[(first_channel + lane / 4 * 2 + i / 2 % 2) * CNN_STEM_SUMS + tap] = stem[i / 4][i % 4];
    }
}

// The sum over `Rivals` warps, each with other rows, for `channels` channels from first_channel on.
template <int Rivals>
CNN_DEVICE void cnn_stem_add(float *partial, const float *exchange, int first_channel, int channels)
{
    for (int i = threadIdx.x; i < channels * CNN_STEM_SUMS; i += CNN_BACKWARD_THREADS) {
        const int at = first_channel * CNN_STEM_SUMS + i;
        float sum = exchange[at];
#pragma unroll
        for (int rival = 1; rival < Rivals; rival++)
            sum += exchange[rival * CNN_CHANNELS1 * CNN_STEM_SUMS + at];
        partial[at] = sum;
    }
}

// Conv1's sums of an image's rows from `left_out` on. One row at a time in a small loop, whose code fits in the
// instruction cache that the three roles share: the rows' gradients move up in their registers.
template <typename Arithmetic, int Rows>
CNN_DEVICE void cnn_stem_rows(float (*stem)[4], const float (*grad)[2][4], const char *codes, const char *pixels,
                              int left_out, int lane)
{
    uint32_t packed[Rows][4];
    float sum[4][2][4] = {};
#pragma unroll
    for (int i = 0; i < Rows * 4; i++)
        packed[i / 4][i % 4] =
            cnn_stem_pack<Arithmetic>(grad[i / 4][i % 4 / 2][i % 2 * 2], grad[i / 4][i % 4 / 2][i % 2 * 2 + 1]);
#pragma unroll 1
    for (int row = 0; row < Rows; row++) {
        if (row >= left_out)
            cnn_stem_row<Arithmetic>(sum, packed[0], codes, pixels, lane);
#pragma unroll
        for (int i = 0; i < (Rows - 1) * 4; i++)
            packed[i / 4][i % 4] = packed[i / 4 + 1][i % 4];
        codes += CNN_SIDE1 * CNN_CHANNELS1, pixels += 2 * CNN_PLANE_ROW;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tile = i / 4, at = i % 4;
        stem[tile][at] += (sum[0][tile][at] + sum[1][tile][at]) + (sum[2][tile][at] + sum[3][tile][at]);
    }
}

template <typename Arithmetic, int Parts, typename Arguments>
CNN_DEVICE void cnn_data_role(const Arguments &arguments, char *shared, float *exchange, int warp, int lane)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    // Rows 0 4 8 10 and the three after each, when four warps share them: the last warp skips two that another has.
    enum { ROWS = Parts == 1 ? CNN_SIDE1 / 2 : 4, RIVALS = CNN_DATA_WARPS / (Parts == 1 ? 2 : 1) };
    cnn_data_weight<Arithmetic>(arguments.workspace, shared + tiles::WEIGHT_AT, warp * 32 + lane);
    cp_async_wait_all();
    const int turn = warp % RIVALS, first_row = turn * ROWS <= CNN_SIDE1 - ROWS ? turn * ROWS : CNN_SIDE1 - ROWS;
    const int left_out = turn * ROWS - first_row;
    const int first_channel = (Parts == 1 ? warp / RIVALS : (int)blockIdx.y) * CNN_DATA_CHANNELS;
    const char *codes =
        shared + tiles::STEM_AT + first_row * CNN_SIDE1 * CNN_CHANNELS1 + first_channel + (lane & 15) * CNN_CHANNELS1;
    const char *pixels = shared + tiles::STEM_AT + tiles::CODES + first_row * 2 * CNN_PLANE_ROW + cnn_stem_pixels(lane);
    float stem[2][4] = {};
    int stage = 0, step = tiles::STEM;
    for (int image = blockIdx.x; image < arguments.n; image += gridDim.x, stage ^= 1) {
        __barrier_sync_count(CNN_IMAGE_FULL, CNN_BACKWARD_THREADS);
        float grad[ROWS][2][4];
        cnn_data_gradient<Arithmetic, ROWS>(grad, shared + tiles::GRAD_AT + stage * tiles::GRAD,
                                            shared + tiles::WEIGHT_AT, first_row, first_channel, lane);
        cnn_stem_rows<Arithmetic, ROWS>(stem, grad, codes, pixels, left_out, lane);
        codes += step, pixels += step;
        step = -step;
    }
    cnn_stem_leave(exchange + turn * CNN_CHANNELS1 * CNN_STEM_SUMS, stem, first_channel, lane);
}

// --- launch ----------------------------------------------------------------------------------------------------------

template <typename Arithmetic, int Parts>
static __global__ void __launch_bounds__(CNN_BACKWARD_THREADS, 1)
    cnn_backward_kernel(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    extern __shared__ __align__(128) char cnn_shared[];
    // All kernels before the previous one have ended: everything but the incoming gradient is ready.
    const int stage_thread = (int)threadIdx.x - (CNN_BACKWARD_THREADS - CNN_STAGE_THREADS);
    uint32_t pixels[CNN_STAGE_WORDS] = {0};
    if (stage_thread >= 0)
        cnn_stage_first_pixels(arguments, pixels, stage_thread);
    for (int i = threadIdx.x; i < tiles::WEIGHT_AT / CNN_PART; i += CNN_BACKWARD_THREADS)
        ((uint4 *)cnn_shared)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    if (stage_thread >= 0)
        cnn_stage_first<Arithmetic>(arguments, cnn_shared, pixels, stage_thread);
    heddle_wait_for_previous();
    heddle_release_next();
    float *sums = (float *)(cnn_shared + tiles::WEIGHT_AT); // which comes later
    cnn_sums2_add(arguments, sums);
    if (threadIdx.x < CNN_CHANNELS2)
        cnn_backward_coefficients(arguments, sums, (float *)(cnn_shared + tiles::COEFFICIENTS_AT), threadIdx.x);
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
              count = (arguments.n - 1 - (int)blockIdx.x) / gridDim.x + 1;
    // The data warps' final sums overwrite the place of an image after the last: the one before it is no longer needed.
    float *exchange = (float *)(cnn_shared + tiles::POOLED_AT + count % 2 * tiles::POOLED);
    if (warp < CNN_WEIGHT_WARPS)
        cnn_weight_role<Arithmetic, Parts>(arguments, cnn_shared, warp, lane);
    else if (warp < CNN_WEIGHT_WARPS + CNN_DATA_WARPS)
        cnn_data_role<Arithmetic, Parts>(arguments, cnn_shared, exchange, warp - CNN_WEIGHT_WARPS, lane);
    else
        cnn_stage_role<Arithmetic>(arguments, cnn_shared, stage_thread);
    __syncthreads();
    cnn_stem_add<CNN_DATA_WARPS / (Parts == 1 ? 2 : 1)>(
        arguments.workspace.stem_sums_partial + (size_t)blockIdx.x * CNN_CHANNELS1 * CNN_STEM_SUMS, exchange,
        blockIdx.y * CNN_DATA_CHANNELS, CNN_CHANNELS1 / Parts);
}

template <typename Arithmetic, int Parts>
static cudaError_t cnn_launch_backward_parts(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    const int bytes = cnn_backward_tiles<Arithmetic>::BYTES;
    const cudaError_t error = cudaFuncSetAttribute(cnn_backward_kernel<Arithmetic, Parts>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_backward_kernel<Arithmetic, Parts>, dim3(arguments.backward_blocks, Parts),
                                        dim3(CNN_BACKWARD_THREADS), bytes, stream, arguments);
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_backward(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                    cudaStream_t stream)
{
    return 2 * arguments.backward_blocks <= arguments.multiprocessors
               ? cnn_launch_backward_parts<Arithmetic, 2>(arguments, stream)
               : cnn_launch_backward_parts<Arithmetic, 1>(arguments, stream);
}
