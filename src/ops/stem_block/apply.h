// Convolution with folded batchnorm, relu and pooling in registers: stem_block's work on an image, in training and at
// inference. A lane keeps its filter's weights and loops over pairs of windows: 4 by 6 pixels of a channel, the same
// for all lanes, by 12 loads of 8 bytes for 72 multiplications.
#pragma once

#include "ops/conv_block/channels.h"
#include "ops/stem_block/tile.h"

enum {
    STEM_BLOCK_PAIR = 2,                       // adjacent windows
    STEM_BLOCK_SEEN = 2 * STEM_BLOCK_PAIR + 2, // pixels of a row that they see
};

typedef struct stem_block_filter_operands {
    const float *input, *folded; // folded: (9c + 1, columns)
    const double *moments;       // what to centre on; NULL: nothing
    float *output;
    uint8_t *code; // NULL: inference
} stem_block_filter_operands;

// sum[window][pixel]: the filter over both windows; the patch of their first pixel starts at `image`
template <int channels>
__device__ static inline void stem_block_convolve(const float *image, int plane, int stride,
                                                  const float weight[channels * STEM_BLOCK_TAPS], float shift,
                                                  float sum[STEM_BLOCK_PAIR][4])
{
#pragma unroll
    for (int i = 0; i < STEM_BLOCK_PAIR * 4; i++)
        sum[i / 4][i % 4] = shift;
#pragma unroll
    for (int c = 0; c < channels; c++) {
#pragma unroll
        for (int y = 0; y < 4; y++) {
            float pixel[STEM_BLOCK_SEEN];
#pragma unroll
            for (int x = 0; x < STEM_BLOCK_SEEN; x += 2) {
                float2 two = *(const float2 *)&image[c * plane + y * stride + x];
                pixel[x] = two.x, pixel[x + 1] = two.y;
            }
#pragma unroll
            for (int row = 0; row < 2; row++) { // of the window: this line is its filter's row y - row
                if (y - row < 0 || y - row > 2)
                    continue;
#pragma unroll
                for (int column = 0; column < STEM_BLOCK_PAIR * 2; column++)
#pragma unroll
                    for (int s = 0; s < 3; s++)
                        sum[column / 2][row * 2 + column % 2] +=
                            pixel[column + s] * weight[c * STEM_BLOCK_TAPS + (y - row) * 3 + s];
            }
        }
    }
}

// Blocks: tiles, filters. image: (channels, rows, stride), followed by turned
template <int channels>
static __global__ void __launch_bounds__(STEM_BLOCK_THREADS, channels == 1 ? 4 : 3)
    stem_block_filter(heddle_conv_block_shape shape, stem_block_tiling tiling, int columns,
                      stem_block_filter_operands of)
{
    extern __shared__ __align__(16) float image[];
    int plane = (2 * tiling.rows + 2) * tiling.stride, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *turned = image + channels * plane;
    stem_block_tile tile = stem_block_tile_at(shape, tiling, blockIdx.x);
    stem_block_load_image(shape, tiling, tile, of.input, of.moments, image);

    int k = blockIdx.y * STEM_BLOCK_FILTERS + lane;
    float weight[channels * STEM_BLOCK_TAPS], shift = of.folded[channels * STEM_BLOCK_TAPS * columns + k];
#pragma unroll
    for (int d = 0; d < channels * STEM_BLOCK_TAPS; d++)
        weight[d] = of.folded[d * columns + k];
    __syncthreads();

    // Incremented, not divided: a division costs as much as half of the products.
    int row = 0, column = warp * STEM_BLOCK_PAIR, wide = (tile.columns + 1) / STEM_BLOCK_PAIR * STEM_BLOCK_PAIR;
    size_t first = stem_block_pooled_at(shape, tile, k, 0, 0);
    for (; tile.columns > 0; column += STEM_BLOCK_WARPS * STEM_BLOCK_PAIR) {
        for (; column >= wide; row++)
            column -= wide;
        if (row >= tile.rows)
            break;
        float sum[STEM_BLOCK_PAIR][4];
        stem_block_convolve<channels>(&image[2 * row * tiling.stride + 2 * column], plane, tiling.stride, weight, shift,
                                      sum);
#pragma unroll
        for (int i = 0; i < STEM_BLOCK_PAIR; i++) {
            if (column + i >= tile.columns || k >= shape.k)
                continue;
            unsigned winner;
            float pooled = conv_block_relu_pool(sum[i], &winner);
            size_t at = first + (row * (shape.w / 2) + column + i) * shape.k;
            if (of.code)
                of.code[at] = (uint8_t)winner;
            if (shape.output_channels_last)
                of.output[at] = pooled;
            else
                turned[lane * stem_block_turned_row(tiling) + row * tile.columns + column + i] = pooled;
        }
    }
    if (shape.output_channels_last)
        return;
    __syncthreads();
    for (int f = warp; f < STEM_BLOCK_FILTERS; f += STEM_BLOCK_WARPS) {
        int filter = blockIdx.y * STEM_BLOCK_FILTERS + f;
        for (int window = lane; filter < shape.k && window < tile.rows * tile.columns; window += 32)
            of.output[stem_block_turned_at(shape, tile, filter, window)] =
                turned[f * stem_block_turned_row(tiling) + window];
    }
}

static inline void stem_block_launch_filter(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                            const stem_block_filter_operands &of)
{
    stem_block_tiling tiling = stem_block_tiles(&shape);
    int columns = stem_block_columns(&shape);
    dim3 grid((unsigned)stem_block_tile_count(&shape, &tiling), columns / STEM_BLOCK_FILTERS);
    size_t floats = (size_t)shape.c * stem_block_tile_plane(&tiling);
    if (!shape.output_channels_last)
        floats += (size_t)STEM_BLOCK_FILTERS * stem_block_turned_row(tiling);
    size_t bytes = floats * sizeof(float);
    switch (shape.c) {
    case 1: stem_block_filter<1><<<grid, STEM_BLOCK_THREADS, bytes, stream>>>(shape, tiling, columns, of); break;
    case 2: stem_block_filter<2><<<grid, STEM_BLOCK_THREADS, bytes, stream>>>(shape, tiling, columns, of); break;
    case 3: stem_block_filter<3><<<grid, STEM_BLOCK_THREADS, bytes, stream>>>(shape, tiling, columns, of); break;
    default: stem_block_filter<4><<<grid, STEM_BLOCK_THREADS, bytes, stream>>>(shape, tiling, columns, of);
    }
}
