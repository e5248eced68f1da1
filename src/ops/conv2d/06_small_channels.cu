// conv2d, rung 6: 3x3 windows over at most 4 channels. A thread keeps the whole window of 4 pixels in registers and
// loops over the filters.
//
// With one channel a filter has 9 weights: the sums of rungs 4 and 5 are too short to pay for their tiles. Here nothing
// is tiled. A thread loads its 3 rows of 6 pixels once, for all filters. A filter's weights and bias are 3 loads of 16
// bytes from shared memory, the same for all threads of the warp, for 36 multiplications and one store of 16 bytes.
//
// Limited by: memory bandwidth, for writing: k / c times the bytes read.

#include "ops/conv2d/conv2d.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    ROWS = 3,
    TAPS = 9,
    PIXELS = HEDDLE_VECTOR,     // per thread: a store of 16 bytes
    ACROSS = PIXELS + ROWS - 1, // pixels of a row that they see
    FILTERS = 32,               // per block, at most
    FEW_FILTERS = 8,            // per block, if the images alone do not fill the GPU
    ENOUGH_THREADS = 132 * 1024 // half of what the largest GPUs hold at once
};

// A filter in shared memory: its weights, then its bias, padded to whole vectors.
template <int channels> struct filter {
    static const int size = (channels * TAPS + 1 + HEDDLE_VECTOR - 1) / HEDDLE_VECTOR * HEDDLE_VECTOR;
};

template <int channels>
__device__ static void load_filters(int first, int count, const float *weight, const float *bias, float *shared)
{
    const int size = filter<channels>::size;
    for (int i = threadIdx.x; i < count * size; i += HEDDLE_CUDA_BLOCK) {
        int k = first + i / size, at = i % size;
        float value = 0;
        if (at < channels * TAPS)
            value = weight[(size_t)k * channels * TAPS + at];
        else if (at == channels * TAPS && bias)
            value = bias[k];
        shared[i] = value;
    }
}

// input: (n, channels, h, w), window: what the pixels from (y, x) on see of image n
template <int channels>
__device__ static void load_window(const heddle_conv2d_shape &shape, const float *input, size_t n, int y, int x,
                                   float window[channels][ROWS][ACROSS])
{
#pragma unroll
    for (int c = 0; c < channels; c++)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int h = y + r - shape.padding;
            const float *row = input + ((n * channels + c) * shape.h + max(h, 0)) * shape.w;
#pragma unroll
            for (int i = 0; i < ACROSS; i++) {
                int w = x + i - shape.padding;
                window[c][r][i] = h >= 0 && h < shape.h && w >= 0 && w < shape.w ? row[w] : 0.0f;
            }
        }
}

template <int channels> __device__ static float4 apply(const float *shared, const float window[channels][ROWS][ACROSS])
{
    const int size = filter<channels>::size;
    float weight[size];
#pragma unroll
    for (int i = 0; i < size; i += HEDDLE_VECTOR)
        *(float4 *)&weight[i] = *(const float4 *)&shared[i];
    float sum[PIXELS];
#pragma unroll
    for (int p = 0; p < PIXELS; p++)
        sum[p] = weight[channels * TAPS];
#pragma unroll
    for (int c = 0; c < channels; c++)
#pragma unroll
        for (int t = 0; t < TAPS; t++)
#pragma unroll
            for (int p = 0; p < PIXELS; p++)
                sum[p] += window[c][t / ROWS][p + t % ROWS] * weight[c * TAPS + t];
    return make_float4(sum[0], sum[1], sum[2], sum[3]);
}

// weight: (k, channels, 3, 3), bias: (k) or NULL, output: (n, k, out_h, out_w); one thread per 4 pixels of a row,
// `count` filters per block
template <int channels, bool vectors>
__global__ void __launch_bounds__(HEDDLE_CUDA_BLOCK)
    conv2d_small_channels(heddle_conv2d_shape shape, int out_h, int out_w, int runs, int count, const float *input,
                          const float *weight, const float *bias, float *output)
{
    __shared__ __align__(16) float filters[FILTERS * filter<channels>::size];
    int first = blockIdx.y * count;
    count = min(count, shape.k - first);
    load_filters<channels>(first, count, weight, bias, filters);
    __syncthreads();

    size_t at = (size_t)blockIdx.x * HEDDLE_CUDA_BLOCK + threadIdx.x; // (n, y, run)
    size_t n = at / runs / out_h;
    if (n >= (size_t)shape.n)
        return;
    int y = (int)(at / runs % out_h), x = (int)(at % runs) * PIXELS;
    float window[channels][ROWS][ACROSS];
    load_window<channels>(shape, input, n, y, x, window);
    float *to = output + ((n * shape.k + first) * out_h + y) * out_w + x;
#pragma unroll 4
    for (int k = 0; k < count; k++, to += (size_t)out_h * out_w) {
        float4 value = apply<channels>(&filters[k * filter<channels>::size], window);
        if (vectors) {
            *(float4 *)to = value;
            continue;
        }
        const float single[PIXELS] = {value.x, value.y, value.z, value.w};
#pragma unroll
        for (int p = 0; p < PIXELS; p++)
            if (x + p < out_w)
                to[p] = single[p];
    }
}

template <int channels> static void launch_channels(const heddle_call *call, const heddle_conv2d_shape *shape)
{
    int out_h = heddle_conv2d_extent(shape, shape->h, ROWS), out_w = heddle_conv2d_extent(shape, shape->w, ROWS);
    int runs = (int)heddle_ceil_div(out_w, PIXELS);
    size_t threads = (size_t)shape->n * out_h * runs;
    if (threads == 0)
        return;
    int count = threads < ENOUGH_THREADS ? FEW_FILTERS : FILTERS;
    dim3 grid(heddle_cuda_blocks(threads), heddle_ceil_div(shape->k, count));
    const float *input = (const float *)call->input[0], *weight = (const float *)call->input[1];
    const float *bias = (const float *)call->input[2];
    float *output = (float *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (out_w % PIXELS == 0 && heddle_aligned16(output))
        conv2d_small_channels<channels, true>
            <<<grid, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, out_h, out_w, runs, count, input, weight, bias, output);
    else
        conv2d_small_channels<channels, false>
            <<<grid, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, out_h, out_w, runs, count, input, weight, bias, output);
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    switch (shape->c) {
    case 1: launch_channels<1>(call, shape); break;
    case 2: launch_channels<2>(call, shape); break;
    case 3: launch_channels<3>(call, shape); break;
    default: launch_channels<4>(call, shape);
    }
    return heddle_cuda_launched("06_small_channels");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "06_small_channels", launch_forward)
