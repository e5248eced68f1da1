// conv_block inference, fused: batchnorm in the weight; relu and pooling in the registers of the convolution. Used by
// rungs 02_folded_batchnorm (float32) and 03_tensor_cores (tf32).
#pragma once

#include "ops/conv_block/channels.h"
#include "ops/conv_block/product_tf32.h"
#include "ops/conv_block/windows.h"

typedef struct conv_block_batchnorm_operands {
    const float *weight, *bias, *gamma, *beta, *mean, *variance; // bias: NULL if absent
} conv_block_batchnorm_operands;

// packed: (9, padded, columns), shift: (k)
template <bool tf32>
static __global__ void conv_block_fold(heddle_conv_block_shape shape, int padded, int columns,
                                       conv_block_batchnorm_operands of, float *packed, float *shift)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)CONV_BLOCK_TAPS * padded * columns)
        return;
    int k = (int)(at % columns), channel = (int)(at / columns % padded), tap = (int)(at / columns / padded);
    float value = 0;
    if (k < shape.k) {
        float scale = of.gamma[k] / sqrtf(of.variance[k] + shape.epsilon);
        if (channel < shape.c)
            value = scale * of.weight[((size_t)k * shape.c + channel) * CONV_BLOCK_TAPS + tap];
        if (channel == 0 && tap == 0)
            shift[k] = of.beta[k] - (of.mean[k] - (of.bias ? of.bias[k] : 0.0f)) * scale;
    }
    packed[at] = conv_block_rounded<tf32>(value);
}

// The pooled value of this thread's run of four pixels.
__device__ static inline float conv_block_pool_run(const float sum[CONV_BLOCK_TILE], int run, float shift)
{
    const float *four = sum + run * CONV_BLOCK_RUN;
    const float window[4] = {four[0] + shift, four[1] + shift, four[2] + shift, four[3] + shift};
    unsigned winner;
    return conv_block_relu_pool(window, &winner);
}

// output: (n, h/2, w/2, k) or (n, k, h/2, w/2)
template <int filters>
__device__ static inline void conv_block_store_pooled(const heddle_conv_block_shape &shape, bool vectors,
                                                      const float *shift,
                                                      const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE], float *output)
{
    size_t plane = (size_t)(shape.h / 2) * (shape.w / 2), first = (size_t)blockIdx.x * conv_block_tile<filters>::pixels;
#pragma unroll
    for (int run = 0; run < 2; run++) {
        size_t window = (first + conv_block_tile_pixel<filters>(run * CONV_BLOCK_RUN)) / 4, n = window / plane;
        if (n >= (size_t)shape.n)
            continue;
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f += CONV_BLOCK_RUN) {
            int filter = blockIdx.y * filters + conv_block_tile_filter<filters>(f);
            float __align__(16) value[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                value[i] = conv_block_pool_run(sum[f + i], run, filter + i < shape.k ? shift[filter + i] : 0.0f);
            if (vectors && filter < shape.k)
                conv_block_store_row<true>(output + window * shape.k + filter, 4, value);
            else if (shape.output_channels_last)
                conv_block_store_row<false>(output + window * shape.k + filter, shape.k - filter, value);
            else
                for (int i = 0; i < 4 && filter + i < shape.k; i++)
                    output[(n * shape.k + filter + i) * plane + window % plane] = value[i];
        }
    }
}

template <bool tf32, int filters, bool aligned>
__global__ void __launch_bounds__(CONV_BLOCK_THREADS, (conv_block_resident<tf32>()))
    conv_block_product_pool(heddle_conv_block_shape shape, conv_block_source source, int columns, bool vectors,
                            const float *packed, const float *shift, float *output)
{
    extern __shared__ __align__(16) float shared[];
    float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {};
    conv_block_any_product<tf32, filters, aligned, true>(source, columns, packed, shared, sum);
    conv_block_store_pooled<filters>(shape, vectors, shift, sum, output);
}

template <bool tf32, int filters>
static inline void conv_block_launch_pool(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                          const conv_block_source &source, const float *packed, const float *shift,
                                          float *output)
{
    int columns = conv_block_packed_columns(shape.k);
    bool vectors = shape.output_channels_last && shape.k % HEDDLE_VECTOR == 0 && heddle_aligned16(output);
    size_t pixels = (size_t)shape.n * (shape.h / 2) * (shape.w / 2) * 4;
    size_t bytes = conv_block_product_bytes<tf32, filters>();
    dim3 grid(heddle_ceil_div(pixels, conv_block_tile<filters>::pixels), columns / filters);
    auto kernel = heddle_aligned16(source.data) ? conv_block_product_pool<tf32, filters, true>
                                                : conv_block_product_pool<tf32, filters, false>;
    conv_block_allow_shared((const void *)kernel, bytes);
    kernel<<<grid, CONV_BLOCK_THREADS, bytes, stream>>>(shape, source, columns, vectors, packed, shift, output);
}

template <bool tf32> static inline void conv_block_launch_inference(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    conv_block_layout layout = conv_block_inference_layout(&shape);
    float *workspace = (float *)call->workspace, *packed = workspace + layout.packed, *shift = workspace + layout.shift;
    const float *const *input = (const float *const *)call->input;
    cudaStream_t stream = heddle_cuda_stream_of(call);

    conv_block_source source = conv_block_input_source(stream, shape, input[0], workspace + layout.input);
    conv_block_batchnorm_operands batchnorm = {input[1], input[2], input[3], input[4], input[5], input[6]};
    conv_block_fold<tf32>
        <<<heddle_cuda_blocks(conv_block_packed_size(shape.c, shape.k)), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            shape, source.channels, conv_block_packed_columns(shape.k), batchnorm, packed, shift);
    if (conv_block_tile_filters(shape.k) == CONV_BLOCK_FILTERS)
        conv_block_launch_pool<tf32, CONV_BLOCK_FILTERS>(stream, shape, source, packed, shift,
                                                         (float *)call->output[0]);
    else
        conv_block_launch_pool<tf32, CONV_BLOCK_FEW_FILTERS>(stream, shape, source, packed, shift,
                                                             (float *)call->output[0]);
}
