// conv2d's gradient of the weight, rung 7: rung 4 on tensor cores, by mma.sync, for every shape. Factors are rounded to
// tf32, sums are float32.
//
// The product and its split sum are rung 4's: grad_output, filters by pixels, times the matrix of windows, pixels by
// (channel, tap). Along the sum, the pixels, both lie in memory one after the other, as both fragments of an mma want
// them. So tiles keep that order: 16 lanes load 16 pixels of a filter or a column and store them as a row, and one
// ldmatrix loads the fragments of 16 rows by 8 pixels. Rows start 20 banks apart: 8 of them by 4 pixels
// are 32 banks. Elements are rounded once, when they are stored. The tile's sides follow the shape, and so does the
// number of parts (split.h). With 1x1 filters the matrix of windows is the input: it is loaded by 16 bytes, 4 pixels at
// a time. grad_bias is summed from values that are loaded anyway, before they are rounded.
//
// Limited by: the gathering, some 11 instructions and 2 accesses of shared memory per element, which no tap shares with
// the others.

#include "ops/conv2d/split_gemm.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    THREADS = 256,
    DEPTH = CONV2D_MMA_SPLIT_DEPTH, // 16 pixels per step
    ROW = DEPTH + 4,                // of a tile, in floats
    WARPS_DOWN = 2,                 // along the filters
    WARPS_ACROSS = 4,
    MMA_FILTERS = 16, // m16n8k8
    MMA_COLUMNS = 8,
    MMA_DEPTH = 8,
};

template <int filters, int columns> struct tiles {
    uint32_t gradient[filters][ROW];
    uint32_t window[columns][ROW];
};

// down, across: of the warp's tile in the block's
template <int filters, int columns, int down_products, int across_products>
__device__ static void multiply(const tiles<filters, columns> &tile, int down, int across,
                                float sum[down_products][across_products][4])
{
    int lane = threadIdx.x % 32;
    const uint32_t *gradient = &tile.gradient[down + lane % 16][lane / 16 * 4];
    const uint32_t *window = &tile.window[across + lane % 8 + lane / 16 * 8][lane / 8 % 2 * 4];
#pragma unroll
    for (int d = 0; d < DEPTH; d += MMA_DEPTH) {
        uint32_t a[down_products][4];
#pragma unroll
        for (int i = 0; i < down_products; i++)
            ldmatrix_x4(a[i], gradient + i * MMA_FILTERS * ROW + d);
#pragma unroll
        for (int j = 0; j < across_products; j += 2) {
            uint32_t b[4]; // of two products
            ldmatrix_x4(b, window + j * MMA_COLUMNS * ROW + d);
#pragma unroll
            for (int i = 0; i < down_products; i++) {
                mma_m16n8k8_tf32(sum[i][j], a[i], b, sum[i][j]);
                mma_m16n8k8_tf32(sum[i][j + 1], a[i], b + 2, sum[i][j + 1]);
            }
        }
    }
}

// first_filter, first_column: of the warp's tile
template <int down_products, int across_products>
__device__ static void store(const conv2d_view &view, int first_filter, int first_column,
                             const float sum[down_products][across_products][4], float *part)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < down_products * 2; i++) { // a lane has two rows of each product
        int filter = first_filter + i * 8 + lane / 4;
        if (filter >= view.filters)
            return;
        float *to = part + (size_t)filter * view.filter_stride;
#pragma unroll
        for (int j = 0; j < across_products * 2; j++) {
            int column = first_column + j / 2 * MMA_COLUMNS + lane % 4 * 2 + j % 2;
            if (column < view.filter_stride)
                to[column] = sum[i / 2][j / 2][i % 2 * 2 + j % 2];
        }
    }
}

// Stores what a thread has loaded, `vector` pixels of every apart-th row, to a tile in shared memory in tf32.
template <int vector, int count, int apart>
__device__ static void put(const float value[count * vector], uint32_t (*tile)[ROW], int row, int place)
{
#pragma unroll
    for (int i = 0; i < count; i++) {
        __align__(16) uint32_t rounded[vector];
#pragma unroll
        for (int v = 0; v < vector; v++)
            rounded[v] = mma_to_tf32(value[i * vector + v]);
        if (vector == 4)
            *(uint4 *)&tile[row + i * apart][place] = *(const uint4 *)rounded;
        else
            tile[row + i * apart][place] = rounded[0];
    }
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), parts: (gridDim.z, part). A block: `pixels` pixels, a
// multiple of DEPTH, of a tile. vector: pixels that a thread loads at a time, 4 only for the filters that
// pointwise_vectors accepts.
template <int filters, int columns, int vector>
__global__ void __launch_bounds__(THREADS, 2)
    conv2d_mma_split(conv2d_view view, long long pixels, const float *input, const float *grad_output, float *parts)
{
    enum {
        DOWN = filters / WARPS_DOWN,
        ACROSS = columns / WARPS_ACROSS,
        DOWN_PRODUCTS = DOWN / MMA_FILTERS,
        ACROSS_PRODUCTS = ACROSS / MMA_COLUMNS,
        LANES = DEPTH / vector,    // that load the pixels of a filter or a column
        APART = THREADS / LANES,   // filters or columns between two that a thread loads
        FILTERS = filters / APART, // per thread, to load
        COLUMNS = columns / APART,
    };
    __shared__ __align__(16) tiles<filters, columns> tile[2];
    __shared__ __align__(16) conv2d_column places[columns];
    int thread = threadIdx.x, warp = thread / 32, down = warp % WARPS_DOWN * DOWN, across = warp / WARPS_DOWN * ACROSS;
    int first_filter = blockIdx.y * filters, first_column = blockIdx.x * columns;
    // Neighbouring lanes' rows are 4 apart: then two of them, stored at a time, are 32 banks.
    int line = thread / LANES, row = line / 8 * 8 + line % 2 * 4 + line / 2 % 4, place = thread % LANES * vector;
    if (vector == 1) {
        conv2d_find_columns(view, first_column, columns, places);
        __syncthreads();
    }

    long long at = blockIdx.z * pixels + place, plane = (long long)view.out_height * view.out_width;
    long long left = min((blockIdx.z + 1) * pixels, view.images * plane) - at;
    int steps = (int)(pixels / DEPTH), inside = left > 0 ? (int)((left + DEPTH - 1) / DEPTH) : 0; // steps with a pixel
    conv2d_pixel pixel = conv2d_pixel_at(view, at), next = conv2d_pixel_at(view, DEPTH);
    float sum[DOWN_PRODUCTS][ACROSS_PRODUCTS][4] = {}, bias[FILTERS] = {};
    __align__(16) float gradient[FILTERS * vector], window[COLUMNS * vector];
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
            if (vector == 1)
                conv2d_load_window<COLUMNS, APART>(view, pixel, step < inside, places + row, input, window);
            else
                conv2d_load_channels<vector, COLUMNS, APART>(view, pixel, step < inside, view.channels,
                                                             first_column + row, input, window);
            conv2d_load_channels<vector, FILTERS, APART>(view, pixel, step < inside, view.filters, first_filter + row,
                                                         grad_output, gradient);
            conv2d_advance(view, next, pixel);
        }
        if (step > 0)
            multiply<filters, columns, DOWN_PRODUCTS, ACROSS_PRODUCTS>(tile[(step - 1) % 2], down, across, sum);
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < FILTERS * vector; i++)
                bias[i / vector] += gradient[i];
            put<vector, FILTERS, APART>(gradient, tile[step % 2].gradient, row, place);
            put<vector, COLUMNS, APART>(window, tile[step % 2].window, row, place);
        }
        __syncthreads();
    }
    float *part = parts + blockIdx.z * ((size_t)view.filters * view.filter_stride + view.filters);
    store<DOWN_PRODUCTS, ACROSS_PRODUCTS>(view, first_filter + down, first_column + across, sum, part);
    if (blockIdx.x == 0)
        conv2d_store_bias<FILTERS, APART, LANES>(view, first_filter + row, bias, part);
}

// 1x1 filters at every pixel: the matrix of windows is the input. Whole vectors of pixels of an image.
static bool pointwise_vectors(const conv2d_view &view, const heddle_call *call)
{
    return conv2d_taps(&view) == 1 && view.position_step == 1 && view.origin == 0 &&
           (long long)view.out_height * view.out_width % HEDDLE_VECTOR == 0 && heddle_aligned16(call->input[0]) &&
           heddle_aligned16(call->input[1]);
}

template <int filters, int columns> static void launch(const heddle_call *call, const conv2d_view &view, int count)
{
    long long pixels = (conv2d_pixels(&view) + count - 1) / count;
    pixels = (pixels + DEPTH - 1) / DEPTH * DEPTH;
    dim3 grid(heddle_ceil_div(view.filter_stride, columns), heddle_ceil_div(view.filters, filters), count);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const float *input = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    float *parts = (float *)call->workspace;
    if (pointwise_vectors(view, call))
        conv2d_mma_split<filters, columns, HEDDLE_VECTOR>
            <<<grid, THREADS, 0, stream>>>(view, pixels, input, grad_output, parts);
    else
        conv2d_mma_split<filters, columns, 1><<<grid, THREADS, 0, stream>>>(view, pixels, input, grad_output, parts);
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    conv2d_mma_split_plan plan = conv2d_mma_split_plan_of(&view);
    if (plan.filters == 64 && plan.columns == 128)
        launch<64, 128>(call, view, plan.parts);
    else if (plan.filters == 64)
        launch<64, 192>(call, view, plan.parts);
    else if (plan.columns == 64)
        launch<128, 64>(call, view, plan.parts);
    else
        launch<128, 128>(call, view, plan.parts);
    conv2d_launch_add_parts(heddle_cuda_stream_of(call), &view, plan.parts, (const float *)call->workspace,
                            (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("07_mma_split");
}

HEDDLE_CUDA_RUNG("conv2d_backward_weight", "07_mma_split", launch_backward_weight)
