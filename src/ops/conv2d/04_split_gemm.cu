// conv2d's gradient of the weight, rung 4: implicit GEMM with its sum split among blocks.
//
// As a product it is small and deep: grad_output, filters by pixels, times the matrix of windows, pixels by (channel,
// tap). It has few tiles, each with a sum over all pixels of all images: too few blocks to fill the GPU. So the sum is
// split; each block writes its part, and a second pass adds the parts in order. The matrix of rung 3 is not written: a
// tile of it is gathered from the image. grad_bias is summed from values that are loaded anyway.
//
// Limited by: instructions other than multiplications: 16 elements gathered with bounds checks for 512 multiplications,
// and each element of the input once per tap.

#include "ops/conv2d/split_gemm.h"
#include "ops/cuda/rung.h"

enum {
    TILE = CONV2D_SPLIT_TILE, // 64
    DEPTH = 8,                // pixels per step: 8 neighbours are a sector of 32 bytes
    EACH = 8,                 // filters and columns per thread, as two runs of 4
    HALF = EACH / 2,
    SIDE = TILE / EACH,    // threads along either side
    THREADS = SIDE * SIDE, // 64
    LOADS = TILE * DEPTH / THREADS,
    APART = THREADS / DEPTH, // filters or columns between two that a thread loads
    PADDING = 4,             // rows of a tile start 4 banks apart: 8 pixels by 4 filters hit 32 banks
};

typedef struct tiles {
    float gradient[DEPTH][TILE + PADDING];
    float window[DEPTH][TILE + PADDING];
} tiles;

__device__ static void multiply(const tiles &tile, int across, int down, float sum[EACH][EACH])
{
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
        float filter[EACH], column[EACH];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            *(float4 *)&filter[half * HALF] = *(const float4 *)&tile.gradient[d][half * TILE / 2 + down * HALF];
            *(float4 *)&column[half * HALF] = *(const float4 *)&tile.window[d][half * TILE / 2 + across * HALF];
        }
#pragma unroll
        for (int f = 0; f < EACH; f++)
#pragma unroll
            for (int c = 0; c < EACH; c++)
                sum[f][c] += filter[f] * column[c];
    }
}

__device__ static void store(const conv2d_view &view, int first_filter, int first_column, int across, int down,
                             const float sum[EACH][EACH], float *part)
{
#pragma unroll
    for (int f = 0; f < EACH; f++)
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            int filter = first_filter + f / HALF * (TILE / 2) + down * HALF + f % HALF;
            int column = first_column + c / HALF * (TILE / 2) + across * HALF + c % HALF;
            if (filter < view.filters && column < view.filter_stride)
                part[(size_t)filter * view.filter_stride + column] = sum[f][c];
        }
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), parts: (gridDim.z, part). A block: `pixels` pixels of a tile.
__global__ void __launch_bounds__(THREADS, 8)
    conv2d_split_gemm(conv2d_view view, long long pixels, const float *input, const float *grad_output, float *parts)
{
    __shared__ __align__(16) tiles tile[2];
    __shared__ conv2d_column columns[TILE];
    int thread = threadIdx.x, across = thread % SIDE, down = thread / SIDE, row = thread / DEPTH;
    int first_column = blockIdx.x * TILE, first_filter = blockIdx.y * TILE;
    conv2d_find_columns(view, first_column, TILE, columns);
    __syncthreads();

    long long at = blockIdx.z * pixels + thread % DEPTH, plane = (long long)view.out_height * view.out_width;
    long long end = min((blockIdx.z + 1) * pixels, view.images * plane);
    conv2d_pixel pixel = conv2d_pixel_at(view, at), next = conv2d_pixel_at(view, DEPTH);
    float sum[EACH][EACH] = {}, bias[LOADS] = {}, gradient[LOADS], window[LOADS];
    int steps = (int)((pixels + DEPTH - 1) / DEPTH);
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
            conv2d_load_channels<1, LOADS, APART>(view, pixel, at < end, view.filters, first_filter + row, grad_output,
                                                  gradient);
            conv2d_load_window<LOADS, APART>(view, pixel, at < end, columns + row, input, window);
            at += DEPTH;
            conv2d_advance(view, next, pixel);
        }
        if (step > 0)
            multiply(tile[(step - 1) % 2], across, down, sum);
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < LOADS; i++) {
                bias[i] += gradient[i];
                tile[step % 2].gradient[thread % DEPTH][row + i * APART] = gradient[i];
                tile[step % 2].window[thread % DEPTH][row + i * APART] = window[i];
            }
        }
        __syncthreads();
    }
    float *part = parts + blockIdx.z * ((size_t)view.filters * view.filter_stride + view.filters);
    store(view, first_filter, first_column, across, down, sum, part);
    if (blockIdx.x == 0)
        conv2d_store_bias<LOADS, APART, DEPTH>(view, first_filter + row, bias, part);
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    int count = conv2d_split_parts(&view);
    long long pixels = (conv2d_pixels(&view) + count - 1) / count;
    dim3 grid(heddle_ceil_div(view.filter_stride, TILE), heddle_ceil_div(view.filters, TILE), count);
    float *parts = (float *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    conv2d_split_gemm<<<grid, THREADS, 0, stream>>>(view, pixels, (const float *)call->input[0],
                                                    (const float *)call->input[1], parts);
    conv2d_launch_add_parts(stream, &view, count, parts, (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("04_split_gemm");
}

HEDDLE_CUDA_RUNG("conv2d_backward_weight", "04_split_gemm", launch_backward_weight)
