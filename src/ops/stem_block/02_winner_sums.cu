// stem_block backward, rung 2: the gradients from sums over the winners of the pooling windows and the moments that
// forward saved. Neither the convolution nor its gradient is computed.
//
// Rung 1 computes both, and sums the weight's gradient over all pixels. But batchnorm's gradient at a pixel is
//     scale * (g - mean g - normalised * mean (g * normalised))
// with g = 0 at 3 of 4 pixels: summed over all patches, the last two terms are the patches' mean and covariance times a
// filter, known from the moments. What is left is G = sum of g (x - m) over the winners' patches x, 9c multiplications
// per window where a convolution has 36c. With it
//     grad_gamma = w·G / std,   grad_weight = gamma / std * (G - grad_gamma / std * Cov w)
// A lane is a filter, which reads its winner's patch from the image in shared memory; the four possible places lie in
// different banks. Warps and blocks store their sums, and one kernel adds them in a fixed order and in double.
//
// Limited by: loads from shared memory, 9c for 9c multiplications, and with one channel about equally by the bytes of
// grad_output.

#include "ops/stem_block/tile.h"

enum { TAPS = STEM_BLOCK_TAPS };

typedef struct sum_operands {
    const float *input, *grad_output;
    const double *moments;
    const uint8_t *code;
} sum_operands;

// turned: (32, windows), from (n, k, h/2, w/2)
__device__ static void load_turned(const heddle_conv_block_shape &shape, const stem_block_tiling &tiling,
                                   const stem_block_tile &tile, const float *grad_output, float *turned)
{
    for (int f = threadIdx.x / 32; f < STEM_BLOCK_FILTERS; f += STEM_BLOCK_WARPS) {
        int k = blockIdx.y * STEM_BLOCK_FILTERS + f;
        for (int window = threadIdx.x % 32; k < shape.k && window < tile.rows * tile.columns; window += 32)
            turned[f * stem_block_turned_row(tiling) + window] =
                grad_output[stem_block_turned_at(shape, tile, k, window)];
    }
}

// Adds the contribution of this warp's windows of the tile to filter k.
template <int channels>
__device__ static void add_tile(const heddle_conv_block_shape &shape, const stem_block_tiling &tiling,
                                const stem_block_tile &tile, int k, const sum_operands &of, const float *image,
                                const float *turned, float sum[channels * TAPS + 1])
{
    int plane = (2 * tiling.rows + 2) * tiling.stride, lane = threadIdx.x % 32;
    int row = 0, column = threadIdx.x / 32; // incremented: a division costs as much as the sums
    size_t first = stem_block_pooled_at(shape, tile, k, 0, 0);
#pragma unroll 4
    for (int window = column; window < tile.rows * tile.columns;
         window += STEM_BLOCK_WARPS, column += STEM_BLOCK_WARPS) {
        for (; column >= tile.columns; row++)
            column -= tile.columns;
        size_t at = first + (row * (shape.w / 2) + column) * shape.k;
        unsigned code = of.code[at];
        float gradient =
            shape.output_channels_last ? of.grad_output[at] : turned[lane * stem_block_turned_row(tiling) + window];
        gradient = code == HEDDLE_CONV_BLOCK_NO_WINNER ? 0.0f : gradient;
        const float *patch = &image[(2 * row + (code >> 1 & 1)) * tiling.stride + 2 * column + (code & 1)];
#pragma unroll
        for (int d = 0; d < channels * TAPS; d++)
            sum[d] += gradient * patch[d / TAPS * plane + d % TAPS / 3 * tiling.stride + d % 3];
        sum[channels * TAPS] += gradient;
    }
}

// parts: (k, 9c + 1, gridDim.x): sums of g (x - centre), and of g. Blocks: shares of the tiles, filters.
template <int channels>
__global__ void __launch_bounds__(STEM_BLOCK_THREADS, channels <= 2 ? 4 : 3)
    stem_block_winner_parts(heddle_conv_block_shape shape, stem_block_tiling tiling, size_t tiles, sum_operands of,
                            float *parts)
{
    extern __shared__ __align__(16) float shared[];
    const int values = channels * TAPS + 1;
    float *turned = shared + channels * (2 * tiling.rows + 2) * tiling.stride;
    int lane = threadIdx.x % 32, k = blockIdx.y * STEM_BLOCK_FILTERS + lane;
    float sum[values] = {};
    for (size_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        stem_block_tile tile = stem_block_tile_at(shape, tiling, number);
        __syncthreads(); // the last tile is no longer read
        stem_block_load_image(shape, tiling, tile, of.input, of.moments, shared);
        if (!shape.output_channels_last)
            load_turned(shape, tiling, tile, of.grad_output, turned);
        __syncthreads();
        if (k < shape.k)
            add_tile<channels>(shape, tiling, tile, k, of, shared, turned, sum);
    }
    __syncthreads();
    // (warps, values, 32), then added warp by warp
#pragma unroll
    for (int v = 0; v < values; v++)
        shared[(threadIdx.x / 32 * values + v) * 32 + lane] = sum[v];
    __syncthreads();
    for (int i = threadIdx.x; i < values * 32; i += STEM_BLOCK_THREADS) {
        float total = 0;
        for (int warp = 0; warp < STEM_BLOCK_WARPS; warp++)
            total += shared[warp * values * 32 + i];
        int filter = blockIdx.y * STEM_BLOCK_FILTERS + i % 32;
        if (filter < shape.k)
            parts[((size_t)filter * values + i / 32) * gridDim.x + blockIdx.x] = total;
    }
}

// --- the gradients --------------------------------------------------------------------------------------------------

typedef struct finish_operands {
    const float *weight, *gamma, *inverse_std;
    const double *moments;
    float *grad_weight, *grad_bias, *grad_gamma, *grad_beta; // grad_bias: NULL if absent
} finish_operands;

// One block per filter: a warp adds a value's parts, then each thread has an element of the filter.
__global__ void stem_block_finish(int channels, int count, const float *parts, finish_operands of)
{
    __shared__ double sums[HEDDLE_STEM_BLOCK_MOST_PATCH + 1], products[HEDDLE_STEM_BLOCK_MOST_PATCH];
    int patch = TAPS * channels, k = blockIdx.x, thread = threadIdx.x;
    for (int v = thread / 32; v <= patch; v += STEM_BLOCK_WARPS) {
        double sum = 0;
        for (int i = thread % 32; i < count; i += 32)
            sum += (double)parts[((size_t)k * (patch + 1) + v) * count + i];
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (thread % 32 == 0)
            sums[v] = sum;
    }
    __syncthreads();

    const float *filter = of.weight + (size_t)k * patch;
    double inverse_std = (double)of.inverse_std[k], grad_beta = sums[patch], centred = 0, covariance = 0,
           grad_gamma = 0;
    if (thread < patch) {
        centred =
            sums[thread] - (of.moments[thread] - (double)stem_block_centre(of.moments, thread / TAPS)) * grad_beta;
        for (int e = 0; e < patch; e++)
            covariance += of.moments[(e + 1) * patch + thread] * (double)filter[e];
        products[thread] = inverse_std * (double)filter[thread] * centred;
    }
    __syncthreads();
    for (int d = 0; d < patch; d++)
        grad_gamma += products[d];
    if (thread < patch)
        of.grad_weight[(size_t)k * patch + thread] =
            (float)((double)of.gamma[k] * inverse_std * (centred - grad_gamma * inverse_std * covariance));
    if (thread == 0) {
        of.grad_gamma[k] = (float)grad_gamma;
        of.grad_beta[k] = (float)grad_beta;
        if (of.grad_bias)
            of.grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds
    }
}

// --- launching ------------------------------------------------------------------------------------------------------

template <int channels>
static void launch_parts(cudaStream_t stream, const heddle_conv_block_shape &shape, const sum_operands &of,
                         float *parts)
{
    stem_block_tiling tiling = stem_block_tiles(&shape);
    size_t floats = (size_t)channels * stem_block_tile_plane(&tiling);
    if (!shape.output_channels_last)
        floats += (size_t)STEM_BLOCK_FILTERS * stem_block_turned_row(tiling);
    size_t sums = (size_t)STEM_BLOCK_WARPS * (channels * TAPS + 1) * 32; // which replace the tile at the end
    floats = floats > sums ? floats : sums;
    dim3 grid(stem_block_sum_parts(&shape), stem_block_columns(&shape) / STEM_BLOCK_FILTERS);
    stem_block_winner_parts<channels><<<grid, STEM_BLOCK_THREADS, floats * sizeof(float), stream>>>(
        shape, tiling, stem_block_tile_count(&shape, &tiling), of, parts);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    float *parts = (float *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    sum_operands sums = {(const float *)call->input[0], (const float *)call->input[8], (const double *)call->input[4],
                         (const uint8_t *)call->input[7]};
    switch (shape.c) {
    case 1: launch_parts<1>(stream, shape, sums, parts); break;
    case 2: launch_parts<2>(stream, shape, sums, parts); break;
    case 3: launch_parts<3>(stream, shape, sums, parts); break;
    default: launch_parts<4>(stream, shape, sums, parts);
    }
    finish_operands finish = {(const float *)call->input[1], (const float *)call->input[2],
                              (const float *)call->input[6], (const double *)call->input[4],
                              (float *)call->output[0],      (float *)call->output[1],
                              (float *)call->output[2],      (float *)call->output[3]};
    stem_block_finish<<<shape.k, STEM_BLOCK_THREADS, 0, stream>>>(shape.c, stem_block_sum_parts(&shape), parts, finish);
    return heddle_cuda_launched("02_winner_sums");
}

HEDDLE_CUDA_RUNG("stem_block_backward", "02_winner_sums", launch)
