// The kernel of conv2d's rung 4 (explained in 04_implicit_gemm.cu), and of conv2d_bias_relu's rung 3, which applies
// relu in its epilogue.
#pragma once

#include "ops/conv2d/epilogue.h"
#include "ops/conv2d/implicit.h"
#include "ops/cuda/vector.h"

enum {
    PIXELS = 128,                    // a thread gathers one
    FILTERS = CONV2D_PACKED_COLUMNS, // 64
    DEPTH = 8,                       // (channel, tap) pairs per step: as many as a thread can hold meanwhile
    TILE = 8,                        // pixels and filters per thread, as two runs of 4: loads of 16 bytes
    HALF = TILE / 2,
    ACROSS = PIXELS / TILE,             // threads along the pixels
    THREADS = ACROSS * FILTERS / TILE,  // 128
    WEIGHTS = DEPTH * FILTERS / THREADS // 4: one load of 16 bytes per thread and step
};
static_assert(THREADS == PIXELS && WEIGHTS == 4, "a pixel and a vector of weights for every thread");

typedef struct tiles {
    float window[DEPTH][PIXELS];
    float weight[DEPTH][FILTERS];
} tiles;

__device__ static void multiply(const tiles &tile, int across, int down, float sum[TILE][TILE])
{
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
        float pixel[TILE], filter[TILE];
        for (int half = 0; half < 2; half++) {
            *(float4 *)&pixel[half * HALF] = *(const float4 *)&tile.window[d][half * PIXELS / 2 + across * HALF];
            *(float4 *)&filter[half * HALF] = *(const float4 *)&tile.weight[d][half * FILTERS / 2 + down * HALF];
        }
#pragma unroll
        for (int f = 0; f < TILE; f++)
#pragma unroll
            for (int p = 0; p < TILE; p++)
                sum[f][p] += pixel[p] * filter[f];
    }
}

__device__ static void store(const conv2d_view &view, long long pixel, int filter, bool vectors,
                             const float value[HALF], float *output)
{
    int plane = view.out_height * view.out_width;
    if (vectors) { // all four are of one image
        if (pixel < (long long)view.images * plane)
            *(float4 *)(output + (pixel / plane * view.filters + filter) * plane + pixel % plane) =
                *(const float4 *)value;
        return;
    }
    for (int i = 0; i < HALF; i++, pixel++)
        if (pixel < (long long)view.images * plane)
            output[(pixel / plane * view.filters + filter) * plane + pixel % plane] = value[i];
}

// source: (images, channels, height, width), packed: (rows, columns), output: (images, filters, out_height, out_width)
template <bool whole, bool relu>
__global__ void __launch_bounds__(THREADS, 4)
    conv2d_implicit_gemm(conv2d_view view, int rows, int columns, bool vectors, const float *source,
                         const float *packed, const float *bias, float *output)
{
    __shared__ __align__(16) tiles tile[2];
    int thread = threadIdx.x, across = thread % ACROSS, down = thread / ACROSS;
    long long first_pixel = (long long)blockIdx.x * PIXELS;
    size_t plane = (size_t)view.height * view.width;
    conv2d_cursor cursor = conv2d_cursor_at(view, source, first_pixel + thread, 0);
    int weight_row = thread * WEIGHTS / FILTERS, weight_column = thread * WEIGHTS % FILTERS;
    const float *weight = packed + (size_t)weight_row * columns + blockIdx.y * FILTERS + weight_column;

    float sum[TILE][TILE] = {}, window[DEPTH];
    float4 weights;
    int steps = (rows + DEPTH - 1) / DEPTH;
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
            conv2d_gather<DEPTH, whole>(view, plane, cursor, window);
            weights = *(const float4 *)weight;
            weight += (size_t)DEPTH * columns;
        }
        if (step > 0)
            multiply(tile[(step - 1) % 2], across, down, sum);
        if (step < steps) {
            for (int d = 0; d < DEPTH; d++)
                tile[step % 2].window[d][thread] = window[d];
            *(float4 *)&tile[step % 2].weight[weight_row][weight_column] = weights;
        }
        __syncthreads();
    }

#pragma unroll
    for (int f = 0; f < TILE; f++) {
        int filter = blockIdx.y * FILTERS + f / HALF * (FILTERS / 2) + down * HALF + f % HALF;
        if (filter >= view.filters)
            continue;
        float shift = bias ? bias[filter] : 0.0f;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float __align__(16) value[HALF];
            for (int i = 0; i < HALF; i++)
                value[i] = conv2d_epilogue<relu>(sum[f][half * HALF + i] + shift);
            store(view, first_pixel + half * PIXELS / 2 + across * HALF, filter, vectors, value, output);
        }
    }
}

template <bool relu>
static void launch(const heddle_call *call, conv2d_view view, const float *source, const float *weight,
                   const float *bias, float *output)
{
    long long pixels = conv2d_pixels(&view);
    if (pixels == 0)
        return;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int rows = conv2d_packed_rows(&view), columns = conv2d_packed_columns(&view);
    float *packed = (float *)call->workspace;
    conv2d_pack_taps<false><<<heddle_cuda_blocks((size_t)rows * columns), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        view, rows, columns, weight, packed);
    dim3 grid(heddle_ceil_div(pixels, PIXELS), columns / FILTERS);
    bool vectors = heddle_aligned16(output) && view.out_height * view.out_width % HALF == 0;
    rows = view.channels * conv2d_taps(&view);
    if (view.channels % DEPTH == 0)
        conv2d_implicit_gemm<true, relu>
            <<<grid, THREADS, 0, stream>>>(view, rows, columns, vectors, source, packed, bias, output);
    else
        conv2d_implicit_gemm<false, relu>
            <<<grid, THREADS, 0, stream>>>(view, rows, columns, vectors, source, packed, bias, output);
}
