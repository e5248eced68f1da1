// conv2d's gradient of the weight, rung 6: 3x3 windows over at most 4 channels. The image lies in shared memory; a warp
// has a few filters, and its lanes share the pixels.
//
// With one channel there are 9 weights per filter: rung 4's tiles are mostly empty, and rung 5 would leave 31 lanes
// without a channel. What matters is to read grad_output, k / c times as large as the input, once and at full speed. A
// lane reads 4 pixels of 4 filters by 4 loads of 16 bytes, all in flight together, and their common window by 6 loads
// from shared memory. Lanes are summed once, at the end.
//
// Limited by: memory bandwidth, for reading.

#include "ops/conv2d/split.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    SIDE = 3,
    TAPS = 9,
    PIXELS = HEDDLE_VECTOR, // per lane: a load of 16 bytes
    SEEN = PIXELS + SIDE - 1,
    WARPS = 8,
    THREADS = WARPS * 32,
};

// Filters per warp: fewer with more channels, because the sums must stay in registers.
template <int channels> struct warp {
    static const int filters = channels == 1 ? 4 : channels == 2 ? 2 : 1;
};

// The rows of an image that a block works on at a time, and the image in shared memory.
typedef struct bands {
    int rows, of_image, runs, stride; // runs: lanes per row; stride: floats per row of the image, a multiple of 4
} bands;

// image: (channels, rows + 2, stride), from output row y on; whatever lies outside the input is 0
template <int channels>
__device__ static void load_image(const conv2d_view &view, const bands &band, const float *input, size_t n, int y,
                                  float *image)
{
    int seen_rows = band.rows + SIDE - 1;
    for (int row = threadIdx.x / 32; row < channels * seen_rows; row += WARPS) {
        int c = row / seen_rows, h = y + row % seen_rows + view.origin;
        const float *from = input + ((n * channels + c) * view.height + max(h, 0)) * view.width;
        for (int i = threadIdx.x % 32; i < band.stride; i += 32) {
            int w = i + view.origin;
            image[row * band.stride + i] = h >= 0 && h < view.height && w >= 0 && w < view.width ? from[w] : 0.0f;
        }
    }
}

// One lane's pixels, `valid` of them: adds to all taps of `filters` filters, and to their biases.
template <int channels, int filters>
__device__ static void add_pixels(const bands &band, const float *image, const float gradient[filters][PIXELS], int y,
                                  int x, int valid, float sum[filters][channels * TAPS], float bias[filters])
{
#pragma unroll
    for (int f = 0; f < filters; f++)
#pragma unroll
        for (int p = 0; p < PIXELS; p++)
            bias[f] += gradient[f][p];
#pragma unroll
    for (int c = 0; c < channels; c++)
#pragma unroll
        for (int r = 0; r < SIDE; r++) {
            float window[SEEN];
            const float *from = image + (c * (band.rows + SIDE - 1) + y + r) * band.stride + x;
            *(float4 *)&window[0] = *(const float4 *)from;
            *(float2 *)&window[PIXELS] = *(const float2 *)(from + PIXELS);
#pragma unroll
            for (int f = 0; f < filters; f++)
#pragma unroll
                for (int s = 0; s < SIDE; s++)
#pragma unroll
                    for (int p = 0; p < PIXELS; p++)
                        if (p < valid)
                            sum[f][(c * SIDE + r) * SIDE + s] += gradient[f][p] * window[p + s];
        }
}

// Pixels from (y, x) on of `filters` filters; 0 beyond the row and the last filter. from: the first filter's plane
template <bool vectors, int filters>
__device__ static void load_gradient(const conv2d_view &view, const float *from, int left, int y, int x,
                                     float gradient[filters][PIXELS])
{
    size_t plane = (size_t)view.out_height * view.out_width;
    from += (size_t)y * view.out_width + x;
#pragma unroll
    for (int f = 0; f < filters; f++, from += plane) {
        if (vectors)
            *(float4 *)gradient[f] = f < left ? *(const float4 *)from : make_float4(0, 0, 0, 0);
        else
#pragma unroll
            for (int p = 0; p < PIXELS; p++)
                gradient[f][p] = f < left && x + p < view.out_width ? from[p] : 0.0f;
    }
}

__device__ static float sum_of_warp(float value)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffff, value, lanes);
    return value;
}

// input: (n, channels, h, w), grad_output: (n, k, out_h, out_w), parts: (gridDim.x, part)
template <int channels, bool vectors>
__global__ void __launch_bounds__(THREADS, 4)
    conv2d_image_in_shared(conv2d_view view, bands band, long long band_count, const float *input,
                           const float *grad_output, float *parts)
{
    extern __shared__ __align__(16) float image[];
    const int filters = warp<channels>::filters;
    int first = (blockIdx.y * WARPS + threadIdx.x / 32) * filters, lane = threadIdx.x % 32;
    size_t plane = (size_t)view.out_height * view.out_width;
    float sum[filters][channels * TAPS] = {}, bias[filters] = {};
    for (long long b = blockIdx.x; b < band_count; b += gridDim.x) {
        size_t n = b / band.of_image;
        int y = (int)(b % band.of_image) * band.rows, rows = min(band.rows, view.out_height - y);
        __syncthreads(); // the band before is no longer read
        load_image<channels>(view, band, input, n, y, image);
        __syncthreads();
        const float *from = grad_output + (n * view.filters + first) * plane;
        for (int i = lane; i < rows * band.runs; i += 32) {
            int row = i / band.runs, x = i % band.runs * PIXELS;
            float __align__(16) gradient[filters][PIXELS];
            load_gradient<vectors, filters>(view, from, view.filters - first, y + row, x, gradient);
            add_pixels<channels, filters>(band, image, gradient, row, x, vectors ? PIXELS : view.out_width - x, sum,
                                          bias);
        }
    }
    float *part = parts + blockIdx.x * ((size_t)view.filters * (view.filter_stride + 1));
#pragma unroll
    for (int f = 0; f < filters; f++) {
#pragma unroll
        for (int t = 0; t < channels * TAPS; t++) {
            float total = sum_of_warp(sum[f][t]);
            if (lane == 0 && first + f < view.filters)
                part[(size_t)(first + f) * view.filter_stride + t] = total;
        }
        float total = sum_of_warp(bias[f]);
        if (lane == 0 && first + f < view.filters)
            part[(size_t)view.filters * view.filter_stride + first + f] = total;
    }
}

template <int channels> static void launch_channels(const heddle_call *call, const conv2d_view &view)
{
    bands band;
    band.runs = (int)heddle_ceil_div(view.out_width, PIXELS);
    band.stride = conv2d_image_stride(view.out_width);
    band.rows = conv2d_image_rows(&view);
    band.of_image = (int)heddle_ceil_div(view.out_height, band.rows);
    long long count = (long long)view.images * band.of_image;
    int parts = conv2d_image_parts(&view);
    size_t bytes = sizeof(float) * channels * (band.rows + SIDE - 1) * band.stride;
    dim3 grid(parts, heddle_ceil_div(view.filters, WARPS * warp<channels>::filters));
    const float *input = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    float *sums = (float *)call->workspace;
    if (view.out_width % PIXELS == 0 && heddle_aligned16(grad_output))
        conv2d_image_in_shared<channels, true>
            <<<grid, THREADS, bytes, stream>>>(view, band, count, input, grad_output, sums);
    else
        conv2d_image_in_shared<channels, false>
            <<<grid, THREADS, bytes, stream>>>(view, band, count, input, grad_output, sums);
    conv2d_launch_add_parts(stream, &view, parts, sums, (float *)call->output[0], (float *)call->output[1]);
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    switch (view.channels) {
    case 1: launch_channels<1>(call, view); break;
    case 2: launch_channels<2>(call, view); break;
    case 3: launch_channels<3>(call, view); break;
    default: launch_channels<4>(call, view);
    }
    return heddle_cuda_launched("06_image_in_shared");
}

HEDDLE_CUDA_RUNG("conv2d_backward_weight", "06_image_in_shared", launch_backward_weight)
