// conv_block backward, fused: the sums over the winners, the gradient of the convolution in one pass, and the products
// that carry it to the weight and to the input. Used by rungs 02_gradient_once (float32) and 03_tensor_cores (tf32).
#pragma once

#include "ops/conv_block/channels.h"
#include "ops/conv_block/product_tf32.h"
#include "ops/conv_block/weight_gradient.h"
#include "ops/conv_block/windows.h"

enum { CONV_BLOCK_FEW_PIXELS = 1536 }; // of all images: up to there the input's gradient is summed tap by tap

typedef struct conv_block_backward_operands {
    const float *gamma, *convolution, *mean, *inverse_std, *grad_output;
    const uint8_t *code;
    float *grad_gamma, *grad_beta, *grad_bias; // grad_bias: NULL if left out
} conv_block_backward_operands;

// --- the sums over winners ------------------------------------------------------------------------------------------

// Pooled gradients of this thread's 4 channels; 0 where nothing is pooled. pooled: the window's number among all pooled
// ones, or any number if it is not pooled. turned: the tile of the other layout
template <bool vectors>
__device__ static inline void
conv_block_load_pooled(const heddle_conv_block_shape &shape, const conv_block_backward_operands &of, size_t pooled,
                       bool inside, int channel, const conv_block_turned turned, float gradient[4], unsigned code[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        gradient[i] = 0;
        code[i] = HEDDLE_CONV_BLOCK_NO_WINNER;
    }
    if (!inside || channel >= shape.k)
        return;
    conv_block_load_codes<vectors>(of.code + pooled * shape.k + channel, shape.k - channel, code);
    if (shape.output_channels_last)
        conv_block_load_row<vectors>(of.grad_output + pooled * shape.k + channel, shape.k - channel, gradient);
    else
        for (int i = 0; i < 4; i++)
            gradient[i] = turned[threadIdx.x % CONV_BLOCK_QUADS * 4 + i][threadIdx.x / CONV_BLOCK_QUADS];
}

// parts: (2, k, gridDim.x): sums of the gradient, and of that times the normalised value. Blocks: groups of tiles of
// windows, channels.
template <bool vectors>
__global__ void __launch_bounds__(CONV_BLOCK_WINDOW_THREADS)
    conv_block_winner_sums(heddle_conv_block_shape shape, conv_block_backward_operands of, float *parts)
{
    __shared__ conv_block_turned turned;
    __shared__ float sums[2][CONV_BLOCK_WINDOW_THREADS / 32][CONV_BLOCK_WINDOW_CHANNELS];
    int down = shape.h / 2, across = shape.w / 2, channel = conv_block_first_channel();
    float __align__(16) gradient[4];
    float sum[2][4] = {};
    unsigned code[4];
    for (int t = 0; t < CONV_BLOCK_SUM_TILES; t++) {
        size_t tile = ((size_t)blockIdx.x * CONV_BLOCK_SUM_TILES + t) * CONV_BLOCK_WINDOWS;
        size_t mine = tile + threadIdx.x / CONV_BLOCK_QUADS;
        conv_block_window window = conv_block_window_at(shape.n, down, across, mine);
        if (!shape.output_channels_last)
            conv_block_turn_in(shape, down, across, tile, of.grad_output, turned);
        conv_block_load_pooled<vectors>(shape, of, mine, window.n < (size_t)shape.n, channel, turned, gradient, code);
        if (window.n >= (size_t)shape.n || channel >= shape.k)
            continue;
        // All four pixels, though one counts: the others are in the same 32 bytes as neighbouring channels.
        float __align__(16) value[4][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            size_t pixel = (window.n * shape.h + window.y + i / 2) * shape.w + window.x + i % 2;
            conv_block_load_row<vectors>(of.convolution + pixel * shape.k + channel, shape.k - channel, value[i]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int k = min(channel + i, shape.k - 1);
            float won = code[i] == 0   ? value[0][i]
                        : code[i] == 1 ? value[1][i]
                        : code[i] == 2 ? value[2][i]
                                       : value[3][i];
            float counts = code[i] == HEDDLE_CONV_BLOCK_NO_WINNER ? 0.0f : gradient[i];
            sum[0][i] += counts;
            sum[1][i] += counts * ((won - of.mean[k]) * of.inverse_std[k]);
        }
    }
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            for (int lanes = CONV_BLOCK_QUADS; lanes < 32; lanes *= 2) // those that have the same channels
                sum[s][i] += __shfl_xor_sync(0xffffffffu, sum[s][i], lanes);
            if (threadIdx.x % 32 < CONV_BLOCK_QUADS)
                sums[s][threadIdx.x / 32][threadIdx.x % 32 * 4 + i] = sum[s][i];
        }
    __syncthreads();
    int s = threadIdx.x / CONV_BLOCK_WINDOW_CHANNELS, mine = threadIdx.x % CONV_BLOCK_WINDOW_CHANNELS;
    int k = blockIdx.y * CONV_BLOCK_WINDOW_CHANNELS + mine;
    if (s > 1 || k >= shape.k)
        return;
    float total = 0;
    for (int warp = 0; warp < CONV_BLOCK_WINDOW_THREADS / 32; warp++)
        total += sums[s][warp][mine];
    parts[((size_t)s * shape.k + k) * gridDim.x + blockIdx.x] = total;
}

// One block per channel. coefficients: (3, padded): scale, offset, slope; 0 beyond the last channel
static __global__ void conv_block_join_sums(heddle_conv_block_shape shape, int padded, int count, const float *parts,
                                            conv_block_backward_operands of, float *coefficients)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    int k = blockIdx.x;
    double sum = 0, weighted = 0, pixels = (double)shape.n * shape.h * shape.w;
    for (int i = threadIdx.x; k < shape.k && i < count; i += CONV_BLOCK_SUM_THREADS) {
        sum += (double)parts[(size_t)k * count + i];
        weighted += (double)parts[((size_t)shape.k + k) * count + i];
    }
    sum = conv_block_block_sum(sum, shared);
    weighted = conv_block_block_sum(weighted, shared);
    if (threadIdx.x > 0)
        return;
    double scale = 0, offset = 0, slope = 0;
    if (k < shape.k) {
        double inverse_std = (double)of.inverse_std[k];
        scale = (double)of.gamma[k] * inverse_std;
        slope = scale * inverse_std * weighted / pixels;
        offset = scale * sum / pixels - slope * (double)of.mean[k];
        of.grad_beta[k] = (float)sum;
        of.grad_gamma[k] = (float)weighted;
        if (of.grad_bias)
            of.grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds
    }
    coefficients[k] = (float)scale;
    coefficients[padded + k] = (float)offset;
    coefficients[2 * padded + k] = (float)slope;
}

// --- the gradient of the convolution --------------------------------------------------------------------------------

// gradient: (n, h, w, padded). Blocks: tiles of windows, including those over an odd edge; channels.
template <bool vectors>
__global__ void __launch_bounds__(CONV_BLOCK_WINDOW_THREADS)
    conv_block_form_gradient(heddle_conv_block_shape shape, int padded, conv_block_backward_operands of,
                             const float *coefficients, float *gradient)
{
    __shared__ conv_block_turned turned;
    int down = (shape.h + 1) / 2, across = (shape.w + 1) / 2, channel = conv_block_first_channel();
    size_t tile = (size_t)blockIdx.x * CONV_BLOCK_WINDOWS;
    conv_block_window window = conv_block_window_at(shape.n, down, across, tile + threadIdx.x / CONV_BLOCK_QUADS);
    if (!shape.output_channels_last)
        conv_block_turn_in(shape, down, across, tile, of.grad_output, turned);
    if (window.n >= (size_t)shape.n || channel >= padded)
        return;
    float __align__(16) pooled[4];
    float __align__(16) value[4];
    unsigned code[4];
    bool inside = window.y + 1 < shape.h && window.x + 1 < shape.w;
    size_t number = (window.n * (shape.h / 2) + window.y / 2) * (shape.w / 2) + window.x / 2;
    conv_block_load_pooled<vectors>(shape, of, number, inside, channel, turned, pooled, code);
    const float4 scale = *(const float4 *)&coefficients[channel];
    const float4 offset = *(const float4 *)&coefficients[padded + channel];
    const float4 slope = *(const float4 *)&coefficients[2 * padded + channel];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        int y = window.y + (int)i / 2, x = window.x + (int)i % 2;
        if (y >= shape.h || x >= shape.w)
            continue;
        size_t pixel = (window.n * shape.h + y) * shape.w + x;
        *(float4 *)value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (channel < shape.k)
            conv_block_load_row<vectors>(of.convolution + pixel * shape.k + channel, shape.k - channel, value);
        value[0] = scale.x * (code[0] == i ? pooled[0] : 0.0f) - (offset.x + slope.x * value[0]);
        value[1] = scale.y * (code[1] == i ? pooled[1] : 0.0f) - (offset.y + slope.y * value[1]);
        value[2] = scale.z * (code[2] == i ? pooled[2] : 0.0f) - (offset.z + slope.z * value[2]);
        value[3] = scale.w * (code[3] == i ? pooled[3] : 0.0f) - (offset.w + slope.w * value[3]);
        *(float4 *)&gradient[pixel * padded + channel] = *(const float4 *)value;
    }
}

// --- the gradient of the input --------------------------------------------------------------------------------------

// grad_input: (n, h, w, c) or (n, c, h, w)
template <int filters>
__device__ static inline void conv_block_store_input_gradient(const heddle_conv_block_shape &shape, bool vectors,
                                                              const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE],
                                                              float *grad_input)
{
    size_t plane = (size_t)shape.h * shape.w, first = (size_t)blockIdx.x * conv_block_tile<filters>::pixels;
#pragma unroll
    for (int p = 0; p < CONV_BLOCK_TILE; p++) {
        size_t pixel = first + conv_block_tile_pixel<filters>(p);
        if (pixel >= shape.n * plane)
            continue;
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f += CONV_BLOCK_RUN) {
            int channel = blockIdx.y * filters + conv_block_tile_filter<filters>(f);
            const float __align__(16) value[4] = {sum[f][p], sum[f + 1][p], sum[f + 2][p], sum[f + 3][p]};
            if (vectors && channel < shape.c)
                conv_block_store_row<true>(grad_input + pixel * shape.c + channel, 4, value);
            else if (shape.input_channels_last)
                conv_block_store_row<false>(grad_input + pixel * shape.c + channel, shape.c - channel, value);
            else
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (channel + i < shape.c)
                        grad_input[(pixel / plane * shape.c + channel + i) * plane + pixel % plane] = value[i];
        }
    }
}

// by_tap: for few pixels, which leave registers for it. Sums over the result, such as the gradients of the batchnorm
// before this block, keep its rounding errors; over many pixels they cancel out.
template <bool tf32, int filters, bool by_tap>
__global__ void __launch_bounds__(CONV_BLOCK_THREADS, (by_tap ? 2 : conv_block_resident<tf32>()))
    conv_block_product_input_gradient(heddle_conv_block_shape shape, conv_block_source source, int columns,
                                      bool vectors, const float *packed, float *grad_input)
{
    extern __shared__ __align__(16) float shared[];
    float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {};
    conv_block_any_product<tf32, filters, true, false, by_tap>(source, columns, packed, shared, sum);
    conv_block_store_input_gradient<filters>(shape, vectors, sum, grad_input);
}

// --- launching ------------------------------------------------------------------------------------------------------

static inline conv_block_backward_operands conv_block_backward_operands_of(const heddle_call *call)
{
    conv_block_backward_operands of;
    of.gamma = (const float *)call->input[2];
    of.convolution = (const float *)call->input[4];
    of.mean = (const float *)call->input[5];
    of.inverse_std = (const float *)call->input[6];
    of.code = (const uint8_t *)call->input[7];
    of.grad_output = (const float *)call->input[8];
    of.grad_bias = (float *)call->output[2];
    of.grad_gamma = (float *)call->output[3];
    of.grad_beta = (float *)call->output[4];
    return of;
}

template <bool vectors>
static inline void conv_block_launch_gradient(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                              const conv_block_backward_operands &of, float *parts, float *coefficients,
                                              float *gradient)
{
    int padded = conv_block_padded(shape.k), count = (int)conv_block_sum_parts(&shape);
    unsigned deep = heddle_ceil_div(shape.k, CONV_BLOCK_WINDOW_CHANNELS);
    conv_block_winner_sums<vectors><<<dim3(count, deep), CONV_BLOCK_WINDOW_THREADS, 0, stream>>>(shape, of, parts);
    conv_block_join_sums<<<padded, CONV_BLOCK_SUM_THREADS, 0, stream>>>(shape, padded, count, parts, of, coefficients);
    unsigned tiles = heddle_ceil_div(shape.n * conv_block_covering_windows(&shape), CONV_BLOCK_WINDOWS);
    conv_block_form_gradient<vectors>
        <<<dim3(tiles, deep), CONV_BLOCK_WINDOW_THREADS, 0, stream>>>(shape, padded, of, coefficients, gradient);
}

template <bool tf32, int filters>
static inline void conv_block_launch_input_gradient(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                                    const float *gradient, const float *weight, float *packed,
                                                    float *grad_input)
{
    int padded = conv_block_padded(shape.k), columns = conv_block_packed_columns(shape.c);
    conv_block_pack_weight<tf32>
        <<<heddle_cuda_blocks(conv_block_packed_size(shape.k, shape.c)), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            shape.k, shape.c, padded, columns, true, weight, packed);
    conv_block_source source = {gradient, shape.n, shape.h, shape.w, padded};
    bool vectors = shape.input_channels_last && shape.c % HEDDLE_VECTOR == 0 && heddle_aligned16(grad_input);
    dim3 grid(heddle_ceil_div(conv_block_all_pixels(&shape), conv_block_tile<filters>::pixels), columns / filters);
    size_t bytes = conv_block_product_bytes<tf32, filters>();
    const bool by_tap = !tf32 && conv_block_all_pixels(&shape) <= CONV_BLOCK_FEW_PIXELS;
    auto kernel = by_tap ? conv_block_product_input_gradient<tf32, filters, !tf32>
                         : conv_block_product_input_gradient<tf32, filters, false>;
    conv_block_allow_shared((const void *)kernel, bytes);
    kernel<<<grid, CONV_BLOCK_THREADS, bytes, stream>>>(shape, source, columns, vectors, packed, grad_input);
}

template <bool tf32> static inline void conv_block_launch_backward(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    conv_block_layout layout = conv_block_backward_layout(&shape);
    conv_block_backward_operands of = conv_block_backward_operands_of(call);
    float *workspace = (float *)call->workspace, *gradient = workspace + layout.gradient;
    float *grad_input = (float *)call->output[0];
    const float *weight = (const float *)call->input[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);

    bool vectors = shape.k % HEDDLE_VECTOR == 0 && heddle_aligned16(of.convolution) &&
                   heddle_aligned16(of.grad_output) && (uintptr_t)of.code % sizeof(uchar4) == 0;
    if (vectors)
        conv_block_launch_gradient<true>(stream, shape, of, workspace + layout.parts, workspace + layout.coefficients,
                                         gradient);
    else
        conv_block_launch_gradient<false>(stream, shape, of, workspace + layout.parts, workspace + layout.coefficients,
                                          gradient);
    conv_block_source source =
        conv_block_input_source(stream, shape, (const float *)call->input[0], workspace + layout.input);
    conv_block_launch_weight_gradient<tf32>(stream, shape, source, gradient, workspace + layout.weight_parts,
                                            (float *)call->output[1]);
    if (grad_input && conv_block_tile_filters(shape.c) == CONV_BLOCK_FILTERS)
        conv_block_launch_input_gradient<tf32, CONV_BLOCK_FILTERS>(stream, shape, gradient, weight,
                                                                   workspace + layout.packed, grad_input);
    else if (grad_input)
        conv_block_launch_input_gradient<tf32, CONV_BLOCK_FEW_FILTERS>(stream, shape, gradient, weight,
                                                                       workspace + layout.packed, grad_input);
}
