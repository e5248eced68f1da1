// The gradient of the weight as a sum over all pixels, split into parts that blocks sum separately; a second pass adds
// the parts in order: the same bits every time. Shared by the kernels and the operators' tables.
#pragma once

#include "ops/conv2d/view.h"

enum {
    CONV2D_SPLIT_TILE = 64,   // 04_split_gemm: filters and columns (channel, tap) per block
    CONV2D_SPLIT_DEPTH = 256, // pixels per part, at least: below, the second pass costs more than the first

    CONV2D_MMA_SPLIT_DEPTH = 16, // 07_mma_split: pixels per step

    CONV2D_SLIDING_FILTERS = 64, // 05_sliding_window: per block
    CONV2D_SLIDING_CHANNELS = 32,
    CONV2D_SLIDING_ROWS = 2, // of a band, what a block has in shared memory at a time
    CONV2D_SLIDING_STRIP = 14,

    CONV2D_IMAGE_FLOATS = 12288, // 06_image_in_shared: of an image in shared memory, at most

    CONV2D_MULTIPROCESSORS = 132, // of the GPUs that the numbers of parts are chosen for
};

// Elements of a part: grad_weight, then grad_bias.
static inline size_t conv2d_part_size(const conv2d_view *view)
{
    return (size_t)view->filters * view->filter_stride + view->filters;
}

// Parts of a sum over `units`, so that with `tiles` blocks per part every SM has `resident` blocks.
static inline int conv2d_parts(long long tiles, int resident, long long units)
{
    long long wanted = (long long)CONV2D_MULTIPROCESSORS * resident / tiles;
    if (wanted > units)
        wanted = units;
    return wanted > 1 ? (int)wanted : 1;
}

static inline int conv2d_split_parts(const conv2d_view *view)
{
    long long down = (view->filters + CONV2D_SPLIT_TILE - 1) / CONV2D_SPLIT_TILE;
    long long across = (view->filter_stride + CONV2D_SPLIT_TILE - 1) / CONV2D_SPLIT_TILE;
    return conv2d_parts(down * across, 8, conv2d_pixels(view) / CONV2D_SPLIT_DEPTH);
}

// 07_mma_split: the tile of a block and the number of parts.
typedef struct conv2d_mma_split_plan {
    int filters, columns, parts;
} conv2d_mma_split_plan;

// The time of a pixel in a block, in multiplications: those of the tile, and 50 per element gathered.
static inline double conv2d_mma_split_pixel(int filters, int columns)
{
    return (double)filters * columns + 50.0 * (filters + columns);
}

// The tile with the least to do, then the number of parts with the least estimated time. An SM has two blocks at a
// time; a single one, at last, has three quarters of the speed. The second pass takes about as long as 2
// multiplications per element of a part.
static inline conv2d_mma_split_plan conv2d_mma_split_plan_of(const conv2d_view *view)
{
    static const int sides[][2] = {{128, 128}, {64, 192}, {64, 128}, {128, 64}};
    conv2d_mma_split_plan plan = {0, 0, 1};
    double least = 0;
    long long tiles = 0, most = conv2d_pixels(view) / (4 * CONV2D_MMA_SPLIT_DEPTH);
    for (int i = 0; i < 4; i++) {
        int filters = sides[i][0], columns = sides[i][1];
        long long count = (view->filters + filters - 1LL) / filters * ((view->filter_stride + columns - 1LL) / columns);
        double work = count * conv2d_mma_split_pixel(filters, columns);
        if (i == 0 || work < least)
            least = work, tiles = count, plan.filters = filters, plan.columns = columns;
    }
    for (int parts = 1; parts == 1 || (parts <= most && parts <= 4 * CONV2D_MULTIPROCESSORS); parts++) {
        long long blocks = (tiles * parts + CONV2D_MULTIPROCESSORS - 1) / CONV2D_MULTIPROCESSORS; // per SM
        double pixels = (double)conv2d_pixels(view) / parts + 2 * CONV2D_MMA_SPLIT_DEPTH; // a start and an end besides
        double time = (blocks + blocks % 2 * 0.5) * pixels * conv2d_mma_split_pixel(plan.filters, plan.columns) +
                      2.0 * parts * conv2d_part_size(view);
        if (parts == 1 || time < least)
            least = time, plan.parts = parts;
    }
    return plan;
}

static inline int conv2d_mma_split_parts(const conv2d_view *view)
{
    return conv2d_mma_split_plan_of(view).parts;
}

static inline long long conv2d_sliding_bands(const conv2d_view *view)
{
    int bands = (view->out_height + CONV2D_SLIDING_ROWS - 1) / CONV2D_SLIDING_ROWS;
    return (long long)view->images * bands * (view->out_width / CONV2D_SLIDING_STRIP);
}

static inline int conv2d_sliding_parts(const conv2d_view *view)
{
    long long down = (view->filters + CONV2D_SLIDING_FILTERS - 1) / CONV2D_SLIDING_FILTERS;
    long long across = (view->channels + CONV2D_SLIDING_CHANNELS - 1) / CONV2D_SLIDING_CHANNELS;
    return conv2d_parts(down * across, 2, conv2d_sliding_bands(view));
}

// 3x3, stride 1 along both axes, whole strips, and a channel for at least three quarters of a warp.
static inline bool conv2d_sliding_takes(const conv2d_view *view)
{
    int idle = (CONV2D_SLIDING_CHANNELS - view->channels % CONV2D_SLIDING_CHANNELS) % CONV2D_SLIDING_CHANNELS;
    return view->rows == 3 && view->columns == 3 && view->position_step == 1 && view->tap_step == 1 &&
           view->out_width % CONV2D_SLIDING_STRIP == 0 && 3 * idle <= view->channels;
}

// Floats per row of the image in shared memory: the windows of whole vectors of 4 pixels.
static inline int conv2d_image_stride(int width)
{
    return (width + 3) / 4 * 4 + 4;
}

// Output rows whose windows fit there, at most all; less than 1: none.
static inline int conv2d_image_rows(const conv2d_view *view)
{
    if (view->channels < 1)
        return 0;
    int fit = CONV2D_IMAGE_FLOATS / view->channels / conv2d_image_stride(view->out_width) - 2;
    return fit < view->out_height ? fit : view->out_height;
}

static inline int conv2d_image_parts(const conv2d_view *view)
{
    int rows = conv2d_image_rows(view), warps = view->channels == 1 ? 32 : view->channels == 2 ? 16 : 8;
    if (rows < 1)
        return 1; // the rung does not accept it, or has nothing to do
    long long bands = (long long)view->images * ((view->out_height + rows - 1) / rows);
    return conv2d_parts((view->filters + warps - 1) / warps, 4, bands);
}

// 3x3, stride 1 along both axes, few channels, and rows that are not too long.
static inline bool conv2d_image_takes(const conv2d_view *view)
{
    return view->rows == 3 && view->columns == 3 && view->position_step == 1 && view->tap_step == 1 &&
           view->channels <= 4 && view->out_width < CONV2D_IMAGE_FLOATS / 4 && conv2d_image_rows(view) >= 1;
}

#ifdef __CUDACC__
enum {
    CONV2D_ADD_ACROSS = 32, // elements per block of the second pass: a warp's, coalesced
    CONV2D_ADD_DOWN = 8,    // threads that share an element's parts
};

// parts: (count, size), grad_weight: the first `weights` of an element of size, grad_bias: the rest, or NULL
static __global__ void conv2d_add_parts(int count, size_t size, size_t weights, const float *parts, float *grad_weight,
                                        float *grad_bias)
{
    __shared__ float sums[CONV2D_ADD_DOWN][CONV2D_ADD_ACROSS];
    size_t at = (size_t)blockIdx.x * CONV2D_ADD_ACROSS + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.y; i < count; i += CONV2D_ADD_DOWN)
        sum += at < size ? parts[i * size + at] : 0.0f;
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || at >= size)
        return;
    for (int i = 1; i < CONV2D_ADD_DOWN; i++)
        sum += sums[i][threadIdx.x];
    if (at < weights)
        grad_weight[at] = sum;
    else if (grad_bias)
        grad_bias[at - weights] = sum;
}

static inline void conv2d_launch_add_parts(cudaStream_t stream, const conv2d_view *view, int count, const float *parts,
                                           float *grad_weight, float *grad_bias)
{
    size_t size = conv2d_part_size(view);
    dim3 block(CONV2D_ADD_ACROSS, CONV2D_ADD_DOWN);
    unsigned blocks = (unsigned)((size + CONV2D_ADD_ACROSS - 1) / CONV2D_ADD_ACROSS);
    conv2d_add_parts<<<blocks, block, 0, stream>>>(count, size, size - view->filters, parts, grad_weight, grad_bias);
}
#endif
