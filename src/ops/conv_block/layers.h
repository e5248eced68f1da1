// A conv block's layers as plain CUDA kernels, one after the other, one thread per element: rung 01_naive of conv_block
// and of stem_block, which keeps the convolution in its workspace.
#pragma once

#include "ops/conv_block/channels.h"
#include "ops/conv_block/conv_block.h"
#include "ops/cuda/rung.h"

typedef heddle_conv_block_shape conv_block_shape;

// --- places ---------------------------------------------------------------------------------------------------------

__device__ static inline size_t conv_block_input_at(const conv_block_shape &shape, size_t n, int c, int y, int x)
{
    if (shape.input_channels_last)
        return ((n * shape.h + y) * shape.w + x) * shape.c + c;
    return ((n * shape.c + c) * shape.h + y) * shape.w + x;
}

__device__ static inline size_t conv_block_output_at(const conv_block_shape &shape, size_t n, int k, int y, int x)
{
    int h = shape.h / 2, w = shape.w / 2;
    if (shape.output_channels_last)
        return ((n * h + y) * w + x) * shape.k + k;
    return ((n * shape.k + k) * h + y) * w + x;
}

// A thread's element as coordinates. Channels are innermost, as in the convolution and in the code.
typedef struct conv_block_place {
    size_t n; // images or more: the thread has no element
    int y, x, channel;
} conv_block_place;

__device__ static inline conv_block_place conv_block_thread_place(int h, int w, int channels)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, pixel = at / channels;
    conv_block_place place;
    place.channel = (int)(at % channels);
    place.x = (int)(pixel % w);
    place.y = (int)(pixel / w % h);
    place.n = pixel / w / h;
    return place;
}

// --- forward --------------------------------------------------------------------------------------------------------

// input: (n, c, h, w) or (n, h, w, c), weight: (k, c, 3, 3). Without bias.
__device__ static inline float conv_block_convolve(const conv_block_shape &shape, const float *input,
                                                   const float *weight, size_t n, int k, int y, int x)
{
    float sum = 0;
    for (int c = 0; c < shape.c; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int h = y + r - 1, w = x + s - 1;
                if (h >= 0 && h < shape.h && w >= 0 && w < shape.w)
                    sum += weight[(((size_t)k * shape.c + c) * 3 + r) * 3 + s] *
                           input[conv_block_input_at(shape, n, c, h, w)];
            }
    return sum;
}

// convolution: (n, h, w, k)
static __global__ void conv_block_convolution(conv_block_shape shape, const float *input, const float *weight,
                                              float *convolution)
{
    conv_block_place at = conv_block_thread_place(shape.h, shape.w, shape.k);
    if (at.n < (size_t)shape.n)
        convolution[((at.n * shape.h + at.y) * shape.w + at.x) * shape.k + at.channel] =
            conv_block_convolve(shape, input, weight, at.n, at.channel, at.y, at.x);
}

// One block per channel. Two passes over the convolution: the squares are taken around the mean, because the difference
// of two large sums would lose a small variance.
static __global__ void conv_block_statistics(conv_block_shape shape, const float *convolution,
                                             conv_block_statistics_operands operands)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    size_t pixels = (size_t)shape.n * shape.h * shape.w;
    int k = blockIdx.x;
    double sum = 0, squares = 0;
    for (size_t i = threadIdx.x; i < pixels; i += CONV_BLOCK_SUM_THREADS)
        sum += (double)convolution[i * shape.k + k];
    double mean = conv_block_block_sum(sum, shared) / (double)pixels;
    for (size_t i = threadIdx.x; i < pixels; i += CONV_BLOCK_SUM_THREADS) {
        double difference = (double)convolution[i * shape.k + k] - mean;
        squares += difference * difference;
    }
    squares = conv_block_block_sum(squares, shared);
    if (threadIdx.x == 0)
        conv_block_save_statistics(shape, operands, k, mean, squares / (double)pixels);
}

// output: (n, h/2, w/2, k) or (n, k, h/2, w/2), code: (n, h/2, w/2, k)
static __global__ void conv_block_normalise_pool(conv_block_shape shape, const float *convolution, const float *mean,
                                                 const float *inverse_std, const float *gamma, const float *beta,
                                                 float *output, uint8_t *code)
{
    conv_block_place at = conv_block_thread_place(shape.h / 2, shape.w / 2, shape.k);
    if (at.n >= (size_t)shape.n)
        return;
    int k = at.channel;
    float window[4], scale = gamma[k] * inverse_std[k];
    for (int i = 0; i < 4; i++) {
        size_t pixel = (at.n * shape.h + 2 * at.y + i / 2) * shape.w + 2 * at.x + i % 2;
        window[i] = (convolution[pixel * shape.k + k] - mean[k]) * scale + beta[k];
    }
    unsigned winner;
    output[conv_block_output_at(shape, at.n, k, at.y, at.x)] = conv_block_relu_pool(window, &winner);
    code[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = (uint8_t)winner;
}

// --- backward -------------------------------------------------------------------------------------------------------

// The gradient through pooling and relu: the winner of a window gets the window's gradient, all others none. grad: (n,
// h, w, k)
static __global__ void conv_block_unpool(conv_block_shape shape, const uint8_t *code, const float *grad_output,
                                         float *grad)
{
    conv_block_place at = conv_block_thread_place(shape.h, shape.w, shape.k);
    if (at.n >= (size_t)shape.n)
        return;
    int h = shape.h / 2, w = shape.w / 2, y = at.y / 2, x = at.x / 2;
    float value = 0;
    if (y < h && x < w && code[((at.n * h + y) * w + x) * shape.k + at.channel] == at.y % 2 * 2 + at.x % 2)
        value = grad_output[conv_block_output_at(shape, at.n, at.channel, y, x)];
    grad[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// One block per channel: the sums for batchnorm's gradient, which are the gradients of its own parameters.
static __global__ void conv_block_gradient_sums(conv_block_shape shape, const float *convolution, const float *mean,
                                                const float *inverse_std, const float *grad, float *grad_gamma,
                                                float *grad_beta, float *grad_bias)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    size_t pixels = (size_t)shape.n * shape.h * shape.w;
    int k = blockIdx.x;
    double sum = 0, weighted = 0;
    for (size_t i = threadIdx.x; i < pixels; i += CONV_BLOCK_SUM_THREADS) {
        float normalised = (convolution[i * shape.k + k] - mean[k]) * inverse_std[k];
        sum += (double)grad[i * shape.k + k];
        weighted += (double)grad[i * shape.k + k] * (double)normalised;
    }
    sum = conv_block_block_sum(sum, shared);
    weighted = conv_block_block_sum(weighted, shared);
    if (threadIdx.x > 0)
        return;
    grad_beta[k] = (float)sum;
    grad_gamma[k] = (float)weighted;
    if (grad_bias)
        grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds
}

// The gradient through batchnorm, in place.
static __global__ void conv_block_unnormalise(conv_block_shape shape, const float *convolution, const float *mean,
                                              const float *inverse_std, const float *gamma, const float *grad_gamma,
                                              const float *grad_beta, float *grad)
{
    size_t pixels = (size_t)shape.n * shape.h * shape.w, at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= pixels * shape.k)
        return;
    int k = (int)(at % shape.k);
    float normalised = (convolution[at] - mean[k]) * inverse_std[k];
    grad[at] = gamma[k] * inverse_std[k] *
               (grad[at] - grad_beta[k] / (float)pixels - normalised * grad_gamma[k] / (float)pixels);
}

// One thread per weight, over the whole batch.
static __global__ void conv_block_weight_gradient(conv_block_shape shape, const float *input, const float *grad,
                                                  float *grad_weight)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, pair = at / HEDDLE_CONV_BLOCK_TAPS;
    if (pair >= (size_t)shape.k * shape.c)
        return;
    int k = (int)(pair / shape.c), c = (int)(pair % shape.c), r = (int)(at / 3 % 3) - 1, s = (int)(at % 3) - 1;
    float sum = 0;
    for (int n = 0; n < shape.n; n++)
        for (int y = max(0, -r); y < min(shape.h, shape.h - r); y++) {
            float row = 0; // rows are summed one by one: a long sum would lose small numbers
            for (int x = max(0, -s); x < min(shape.w, shape.w - s); x++)
                row += grad[(((size_t)n * shape.h + y) * shape.w + x) * shape.k + k] *
                       input[conv_block_input_at(shape, n, c, y + r, x + s)];
            sum += row;
        }
    grad_weight[at] = sum;
}

// One thread per element of grad_input.
static __global__ void conv_block_input_gradient(conv_block_shape shape, const float *weight, const float *grad,
                                                 float *grad_input)
{
    conv_block_place at = conv_block_thread_place(shape.h, shape.w, shape.c);
    if (at.n >= (size_t)shape.n)
        return;
    float sum = 0;
    for (int k = 0; k < shape.k; k++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int y = at.y + 1 - r, x = at.x + 1 - s;
                if (y >= 0 && y < shape.h && x >= 0 && x < shape.w)
                    sum += grad[((at.n * shape.h + y) * shape.w + x) * shape.k + k] *
                           weight[(((size_t)k * shape.c + at.channel) * 3 + r) * 3 + s];
            }
    grad_input[conv_block_input_at(shape, at.n, at.channel, at.y, at.x)] = sum;
}

// --- inference ------------------------------------------------------------------------------------------------------

// One thread per pooled value: four convolutions, normalised by the running statistics. bias: (k) or NULL
static __global__ void conv_block_infer(conv_block_shape shape, const float *input, const float *weight,
                                        const float *bias, const float *gamma, const float *beta,
                                        const float *running_mean, const float *running_var, float *output)
{
    conv_block_place at = conv_block_thread_place(shape.h / 2, shape.w / 2, shape.k);
    if (at.n >= (size_t)shape.n)
        return;
    int k = at.channel;
    float window[4], scale = gamma[k] / sqrtf(running_var[k] + shape.epsilon);
    float centre = running_mean[k] - (bias ? bias[k] : 0.0f);
    for (int i = 0; i < 4; i++) {
        float z = conv_block_convolve(shape, input, weight, at.n, k, 2 * at.y + i / 2, 2 * at.x + i % 2);
        window[i] = (z - centre) * scale + beta[k];
    }
    unsigned winner;
    output[conv_block_output_at(shape, at.n, k, at.y, at.x)] = conv_block_relu_pool(window, &winner);
}

// --- all layers -----------------------------------------------------------------------------------------------------

static inline size_t conv_block_convolution_size(const conv_block_shape &shape)
{
    return (size_t)shape.n * shape.h * shape.w * shape.k;
}

static inline size_t conv_block_output_size(const conv_block_shape &shape)
{
    return (size_t)shape.n * (shape.h / 2) * (shape.w / 2) * shape.k;
}

static inline void conv_block_launch_convolution(cudaStream_t stream, const conv_block_shape &shape, const float *input,
                                                 const float *weight, float *convolution)
{
    conv_block_convolution<<<heddle_cuda_blocks(conv_block_convolution_size(shape)), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        shape, input, weight, convolution);
}

static inline void conv_block_launch_layers_forward(cudaStream_t stream, const conv_block_shape &shape,
                                                    const float *input, const float *weight, const float *gamma,
                                                    const float *beta, conv_block_statistics_operands statistics,
                                                    float *convolution, float *output, uint8_t *code)
{
    conv_block_launch_convolution(stream, shape, input, weight, convolution);
    conv_block_statistics<<<shape.k, CONV_BLOCK_SUM_THREADS, 0, stream>>>(shape, convolution, statistics);
    conv_block_normalise_pool<<<heddle_cuda_blocks(conv_block_output_size(shape)), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        shape, convolution, statistics.mean, statistics.inverse_std, gamma, beta, output, code);
}

// What a backward call reads and writes. grad_input, grad_bias: NULL if not requested; grad: (n, h, w, k), room for the
// gradient of the convolution
typedef struct conv_block_layers_backward {
    const float *input, *weight, *gamma, *convolution, *mean, *inverse_std, *grad_output;
    const uint8_t *code;
    float *grad, *grad_input, *grad_weight, *grad_bias, *grad_gamma, *grad_beta;
} conv_block_layers_backward;

static inline void conv_block_launch_layers_backward(cudaStream_t stream, const conv_block_shape &shape,
                                                     const conv_block_layers_backward &of)
{
    unsigned blocks = heddle_cuda_blocks(conv_block_convolution_size(shape));
    unsigned weight_blocks = heddle_cuda_blocks((size_t)shape.k * shape.c * HEDDLE_CONV_BLOCK_TAPS);
    conv_block_unpool<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape, of.code, of.grad_output, of.grad);
    conv_block_gradient_sums<<<shape.k, CONV_BLOCK_SUM_THREADS, 0, stream>>>(
        shape, of.convolution, of.mean, of.inverse_std, of.grad, of.grad_gamma, of.grad_beta, of.grad_bias);
    conv_block_unnormalise<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape, of.convolution, of.mean, of.inverse_std,
                                                                     of.gamma, of.grad_gamma, of.grad_beta, of.grad);
    conv_block_weight_gradient<<<weight_blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape, of.input, of.grad,
                                                                                of.grad_weight);
    if (of.grad_input)
        conv_block_input_gradient<<<heddle_cuda_blocks((size_t)shape.n * shape.c * shape.h * shape.w),
                                    HEDDLE_CUDA_BLOCK, 0, stream>>>(shape, of.weight, of.grad, of.grad_input);
}

static inline void conv_block_launch_layers_inference(const heddle_call *call)
{
    const conv_block_shape &shape = *(const conv_block_shape *)call->shape;
    const float *const *input = (const float *const *)call->input;
    conv_block_infer<<<heddle_cuda_blocks(conv_block_output_size(shape)), HEDDLE_CUDA_BLOCK, 0,
                       heddle_cuda_stream_of(call)>>>(shape, input[0], input[1], input[2], input[3], input[4], input[5],
                                                      input[6], (float *)call->output[0]);
}
