// conv2d, rung 7: implicit GEMM on tensor cores, by mma.sync. Factors are rounded to tf32, sums are float32.
//
// It gathers like rung 4, but multiplies on tensor cores, with many times the rate. A warp has 32 pixels by 32 filters,
// as 2 by 4 products of 16x8 by 8x8. Elements are rounded once, when they are stored to shared memory; the weight is
// rounded once for all blocks, when it is packed. Rows of a tile start 8 banks apart: the 4 rows by 8 columns of a
// fragment lie in 32 different banks.
//
// Limited by: moving fragments and tiles to and from shared memory, 2 loads per mma instruction: the tensor cores wait.

#include "ops/conv2d/implicit.h"

enum {
    PIXELS = 128,
    FILTERS = CONV2D_PACKED_COLUMNS, // 64
    DEPTH = 16,
    THREADS = 256,
    GATHERS = PIXELS * DEPTH / THREADS,      // 8: elements of one pixel that a thread gathers per step
    VECTORS = DEPTH * FILTERS / 4 / THREADS, // of 4 weights that a thread loads per step
    VECTOR_ROWS = 4 * THREADS / FILTERS,     // rows between two of them
    PADDING = 8,                             // banks from row to row
    WARP_PIXELS = 32,
    WARP_FILTERS = 32,
    MMA_PIXELS = 16, // m16n8k8
    MMA_FILTERS = 8,
    MMA_DEPTH = 8,
    WARPS_ACROSS = PIXELS / WARP_PIXELS,          // 4
    PIXEL_PRODUCTS = WARP_PIXELS / MMA_PIXELS,    // 2
    FILTER_PRODUCTS = WARP_FILTERS / MMA_FILTERS, // 4
};
static_assert(THREADS / 32 * WARP_PIXELS * WARP_FILTERS == PIXELS * FILTERS, "the warps' tiles are the block's");

typedef struct tiles {
    uint32_t window[DEPTH][PIXELS + PADDING];
    uint32_t weight[DEPTH][FILTERS + PADDING];
} tiles;

// pixel, filter: of the warp's tile in the block's
__device__ static void multiply(const tiles &tile, int pixel, int filter, float sum[PIXEL_PRODUCTS][FILTER_PRODUCTS][4])
{
    int lane = threadIdx.x % 32, row = lane % 4, column = lane / 4; // places of a lane in the fragments
#pragma unroll
    for (int d = 0; d < DEPTH; d += MMA_DEPTH) {
        uint32_t a[PIXEL_PRODUCTS][4], b[FILTER_PRODUCTS][2];
#pragma unroll
        for (int p = 0; p < PIXEL_PRODUCTS; p++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                a[p][i] = tile.window[d + row + i / 2 * 4][pixel + p * MMA_PIXELS + column + i % 2 * 8];
#pragma unroll
        for (int f = 0; f < FILTER_PRODUCTS; f++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                b[f][i] = tile.weight[d + row + i * 4][filter + f * MMA_FILTERS + column];
#pragma unroll
        for (int p = 0; p < PIXEL_PRODUCTS; p++)
#pragma unroll
            for (int f = 0; f < FILTER_PRODUCTS; f++)
                mma_m16n8k8_tf32(sum[p][f], a[p], b[f], sum[p][f]);
    }
}

// first_pixel, first_filter: of the warp's tile
__device__ static void store(const conv2d_view &view, long long first_pixel, int first_filter, const float *bias,
                             const float sum[PIXEL_PRODUCTS][FILTER_PRODUCTS][4], float *output)
{
    int lane = threadIdx.x % 32;
    size_t plane = (size_t)view.out_height * view.out_width;
    float shift[FILTER_PRODUCTS * 2]; // loaded before the first store, or the loads would wait behind it
#pragma unroll
    for (int f = 0; f < FILTER_PRODUCTS * 2; f++) {
        int filter = first_filter + f / 2 * MMA_FILTERS + lane % 4 * 2 + f % 2;
        shift[f] = bias && filter < view.filters ? bias[filter] : 0.0f;
    }
#pragma unroll
    for (int p = 0; p < PIXEL_PRODUCTS * 2; p++) { // a lane has two rows of each product
        long long pixel = first_pixel + p * 8 + lane / 4, n = pixel / plane;
        if (n >= view.images)
            return;
        float *to = output + n * view.filters * plane + pixel % plane;
#pragma unroll
        for (int f = 0; f < FILTER_PRODUCTS * 2; f++) {
            int filter = first_filter + f / 2 * MMA_FILTERS + lane % 4 * 2 + f % 2;
            if (filter < view.filters)
                to[filter * plane] = sum[p / 2][f / 2][p % 2 * 2 + f % 2] + shift[f];
        }
    }
}

// source: (images, channels, height, width), packed: (rows, columns) in tf32, output: (images, filters, out_height,
// out_width)
template <bool whole>
__global__ void __launch_bounds__(THREADS, 3)
    conv2d_mma_tf32(conv2d_view view, int rows, int columns, const float *source, const float *packed,
                    const float *bias, float *output)
{
    __shared__ __align__(16) tiles tile[2];
    int thread = threadIdx.x, warp = thread / 32;
    int warp_pixel = warp % WARPS_ACROSS * WARP_PIXELS, warp_filter = warp / WARPS_ACROSS * WARP_FILTERS;
    long long first_pixel = (long long)blockIdx.x * PIXELS;
    int first_row = thread / PIXELS * GATHERS;
    size_t plane = (size_t)view.height * view.width;
    conv2d_cursor cursor = conv2d_cursor_at(view, source, first_pixel + thread % PIXELS, first_row);
    int weight_row = thread * 4 / FILTERS, weight_column = thread * 4 % FILTERS;
    const float *weight = packed + (size_t)weight_row * columns + blockIdx.y * FILTERS + weight_column;

    float sum[PIXEL_PRODUCTS][FILTER_PRODUCTS][4] = {}, window[GATHERS];
    uint4 weights[VECTORS];
    int steps = (rows + DEPTH - 1) / DEPTH;
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
            conv2d_gather<GATHERS, whole>(view, plane, cursor, window);
            conv2d_skip(view, plane, cursor, DEPTH - GATHERS);
#pragma unroll
            for (int i = 0; i < VECTORS; i++)
                weights[i] = *(const uint4 *)(weight + (size_t)i * VECTOR_ROWS * columns);
            weight += (size_t)DEPTH * columns;
        }
        if (step > 0)
            multiply(tile[(step - 1) % 2], warp_pixel, warp_filter, sum);
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < GATHERS; i++)
                tile[step % 2].window[first_row + i][thread % PIXELS] = mma_to_tf32(window[i]);
#pragma unroll
            for (int i = 0; i < VECTORS; i++)
                *(uint4 *)&tile[step % 2].weight[weight_row + i * VECTOR_ROWS][weight_column] = weights[i];
        }
        __syncthreads();
    }
    store(view, first_pixel + warp_pixel, blockIdx.y * FILTERS + warp_filter, bias, sum, output);
}

static void launch(const heddle_call *call, conv2d_view view, const float *source, const float *weight,
                   const float *bias, float *output)
{
    long long pixels = conv2d_pixels(&view);
    if (pixels == 0)
        return;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int rows = conv2d_packed_rows(&view), columns = conv2d_packed_columns(&view);
    float *packed = (float *)call->workspace;
    conv2d_pack_taps<true><<<heddle_cuda_blocks((size_t)rows * columns), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        view, rows, columns, weight, packed);
    dim3 grid(heddle_ceil_div(pixels, PIXELS), columns / FILTERS);
    if (view.channels % GATHERS == 0)
        conv2d_mma_tf32<true><<<grid, THREADS, 0, stream>>>(view, rows, columns, source, packed, bias, output);
    else
        conv2d_mma_tf32<false><<<grid, THREADS, 0, stream>>>(view, rows, columns, source, packed, bias, output);
}

static heddle_status launch_forward(const heddle_call *call)
{
    launch(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
           (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("07_mma_tf32");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    launch(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape), (const float *)call->input[1],
           (const float *)call->input[0], NULL, (float *)call->output[0]);
    return heddle_cuda_launched("07_mma_tf32");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "07_mma_tf32", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "07_mma_tf32", launch_backward_data)
