// conv2d, rung 3: the windows written as a matrix, then a matrix product.
//
// Rung 2 reuses its loads only within one tile of pixels and 8 filters, and its loop depends on the filter's shape.
// Once every window is a column (im2col), a convolution of any shape is a matrix product: weight, filters by (channel,
// tap), times columns, (channel, tap) by pixels. A matrix product has tiles in registers: 16 sums per thread, 8 loads
// from shared memory for 16 multiplications. The gradient of the input is the same with grad_output's windows. The
// gradient of the weight is grad_output times the transposed columns; its long sum over pixels is split in parts that
// are added at the end.
//
// Limited by: memory bandwidth. The matrix is r * s times as large as the image, and is written and read again. A few
// images at a time keep it in the L2 cache, at the price of more launches.

#include "ops/conv2d/columns.h"
#include "ops/cuda/rung.h"

enum {
    TILE = CONV2D_COLUMNS_TILE, // 64 by 64 of the result per block
    DEPTH = 16,
    EACH = 4,              // by 4 per thread, as far apart as there are threads: neighbours store neighbours
    SIDE = TILE / EACH,    // 16
    THREADS = SIDE * SIDE, // 256
    LOADS = TILE * DEPTH / THREADS,
    PADDING = 1, // storing a transposed tile does not hit one bank 16 times
};

// columns: (rows, pixels) of `images` images starting at `first`; then a row of ones, if rows has room
__global__ void conv2d_im2col(conv2d_view view, int first, int images, int rows, const float *source, float *columns)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)view.out_height * view.out_width;
    size_t pixels = images * plane;
    if (at >= rows * pixels)
        return;
    int taps = view.rows * view.columns, row = (int)(at / pixels), tap = row % taps, channel = row / taps;
    size_t n = first + at % pixels / plane, within = at % plane;
    int h = conv2d_place(view, (int)(within / view.out_width), tap / view.columns, view.height);
    int w = conv2d_place(view, (int)(within % view.out_width), tap % view.columns, view.width);
    float value = 0;
    if (channel == view.channels)
        value = 1;
    else if (h >= 0 && w >= 0)
        value = source[((n * view.channels + channel) * view.height + h) * view.width + w];
    columns[at] = value;
}

__device__ static void multiply(const float (&left)[DEPTH][TILE + PADDING], const float (&right)[DEPTH][TILE + PADDING],
                                float sum[EACH][EACH])
{
    int across = threadIdx.x % SIDE, down = threadIdx.x / SIDE;
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sum[i][j] += left[d][down + i * SIDE] * right[d][across + j * SIDE];
}

// output of `pixels` pixels of the images starting at `first` = weight (filters, rows) * columns (rows, pixels) + bias
__global__ void __launch_bounds__(THREADS)
    conv2d_columns_forward(conv2d_view view, int first, size_t pixels, int rows, const float *columns,
                           const float *weight, const float *bias, float *output)
{
    __shared__ float left[DEPTH][TILE + PADDING], right[DEPTH][TILE + PADDING];
    size_t first_pixel = (size_t)blockIdx.x * TILE, plane = (size_t)view.out_height * view.out_width;
    int first_filter = blockIdx.y * TILE, taps = view.rows * view.columns;
    float sum[EACH][EACH] = {};
    for (int depth = 0; depth < rows; depth += DEPTH) {
        for (int i = 0; i < LOADS; i++) {
            int at = threadIdx.x + i * THREADS, row = depth + at % DEPTH, filter = first_filter + at / DEPTH;
            left[at % DEPTH][at / DEPTH] = row < rows && filter < view.filters
                                               ? weight[(size_t)filter * view.filter_stride +
                                                        (size_t)(row / taps) * view.channel_stride + row % taps]
                                               : 0.0f;
            row = depth + at / TILE;
            size_t pixel = first_pixel + at % TILE;
            right[at / TILE][at % TILE] = row < rows && pixel < pixels ? columns[row * pixels + pixel] : 0.0f;
        }
        __syncthreads();
        multiply(left, right, sum);
        __syncthreads();
    }
    for (int j = 0; j < EACH; j++) {
        size_t pixel = first_pixel + threadIdx.x % SIDE + j * SIDE, n = first + pixel / plane;
        for (int i = 0; i < EACH; i++) {
            int filter = first_filter + threadIdx.x / SIDE + i * SIDE;
            if (pixel < pixels && filter < view.filters)
                output[(n * view.filters + filter) * plane + pixel % plane] = sum[i][j] + (bias ? bias[filter] : 0.0f);
        }
    }
}

// part = grad_output (filters, pixels) of the images starting at `first` * columns (rows, pixels) transposed; the last
// row's product is the bias's. Blocks: tiles of rows and filters, parts of the pixels.
__global__ void __launch_bounds__(THREADS)
    conv2d_columns_grad_weight(conv2d_view view, int first, size_t pixels, int rows, const float *columns,
                               const float *grad_output, float *parts)
{
    __shared__ float left[DEPTH][TILE + PADDING], right[DEPTH][TILE + PADDING];
    size_t plane = (size_t)view.out_height * view.out_width;
    size_t begin = pixels * blockIdx.z / gridDim.z, end = pixels * (blockIdx.z + 1) / gridDim.z;
    int first_row = blockIdx.x * TILE, first_filter = blockIdx.y * TILE;
    float sum[EACH][EACH] = {};
    for (size_t depth = begin; depth < end; depth += DEPTH) {
        for (int i = 0; i < LOADS; i++) {
            int at = threadIdx.x + i * THREADS, filter = first_filter + at / DEPTH, row = first_row + at / DEPTH;
            size_t pixel = depth + at % DEPTH, n = first + pixel / plane;
            left[at % DEPTH][at / DEPTH] = pixel < end && filter < view.filters
                                               ? grad_output[(n * view.filters + filter) * plane + pixel % plane]
                                               : 0.0f;
            right[at % DEPTH][at / DEPTH] = pixel < end && row < rows ? columns[row * pixels + pixel] : 0.0f;
        }
        __syncthreads();
        multiply(left, right, sum);
        __syncthreads();
    }
    size_t weights = (size_t)view.filters * view.filter_stride;
    float *part = parts + blockIdx.z * (weights + view.filters);
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            int filter = first_filter + threadIdx.x / SIDE + i * SIDE, row = first_row + threadIdx.x % SIDE + j * SIDE;
            if (filter < view.filters && row < rows)
                part[row < view.filter_stride ? (size_t)filter * view.filter_stride + row : weights + filter] =
                    sum[i][j];
        }
}

static void launch(const heddle_call *call, conv2d_view view, const float *source, const float *weight,
                   const float *bias, float *output)
{
    cudaStream_t stream = heddle_cuda_stream_of(call);
    float *columns = (float *)call->workspace;
    int rows = (int)conv2d_column_rows(&view), most = conv2d_column_images(&view, rows);
    size_t plane = (size_t)view.out_height * view.out_width;
    if (plane == 0)
        return;
    for (int first = 0; first < view.images; first += most) {
        int images = view.images - first < most ? view.images - first : most;
        size_t pixels = images * plane;
        conv2d_im2col<<<heddle_cuda_blocks(rows * pixels), HEDDLE_CUDA_BLOCK, 0, stream>>>(view, first, images, rows,
                                                                                           source, columns);
        dim3 grid(heddle_ceil_div((long long)pixels, TILE), heddle_ceil_div(view.filters, TILE));
        conv2d_columns_forward<<<grid, THREADS, 0, stream>>>(view, first, pixels, rows, columns, weight, bias, output);
    }
}

static heddle_status launch_forward(const heddle_call *call)
{
    launch(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
           (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("03_im2col_matmul");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    launch(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape), (const float *)call->input[1],
           (const float *)call->input[0], NULL, (float *)call->output[0]);
    return heddle_cuda_launched("03_im2col_matmul");
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const float *input = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    int rows = (int)conv2d_column_rows(&view) + 1, most = conv2d_column_images(&view, rows);
    int count = conv2d_column_parts(&view), steps = conv2d_column_steps(&view);
    float *columns = (float *)call->workspace, *parts = columns + conv2d_column_floats(&view, rows);
    for (int step = 0; step < steps; step++) {
        int first = step * most, images = view.images - first < most ? view.images - first : most;
        size_t pixels = (size_t)images * view.out_height * view.out_width;
        unsigned blocks = heddle_cuda_blocks(rows * pixels);
        if (blocks > 0)
            conv2d_im2col<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(view, first, images, rows, input, columns);
        dim3 grid(heddle_ceil_div(rows, TILE), heddle_ceil_div(view.filters, TILE), count);
        conv2d_columns_grad_weight<<<grid, THREADS, 0, stream>>>(
            view, first, pixels, rows, columns, grad_output, parts + (size_t)step * count * conv2d_part_size(&view));
    }
    conv2d_launch_add_parts(stream, &view, steps * count, parts, (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("03_im2col_matmul");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "03_im2col_matmul", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "03_im2col_matmul", launch_backward_data)
HEDDLE_CUDA_RUNG("conv2d_backward_weight", "03_im2col_matmul", launch_backward_weight)
