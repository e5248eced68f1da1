// stem_block, rung 1: conv_block's layers one after the other (its layers.h), with the convolution in the workspace,
// and the moments of the input's patches, one block per element.
//
// Forward saves the moments for other rungs' backward; this rung does not use them. Backward computes the convolution
// again, since forward does not save it.
//
// Limited by: the convolutions, which load two numbers and check two bounds per multiplication, and the weight's
// gradient, which has one thread for each of only 9ck weights, with a sum over the whole batch.

#include "ops/conv_block/layers.h"
#include "ops/stem_block/cuda_layout.h"

enum { TAPS = HEDDLE_CONV_BLOCK_TAPS };

// Element d = (channel, row, column) of the patch under pixel number `pixel`; 0 over the border.
__device__ static double patch_element(const conv_block_shape &shape, const float *input, size_t pixel, int d)
{
    size_t n = pixel / shape.w / shape.h;
    int y = (int)(pixel / shape.w % shape.h) + d % TAPS / 3 - 1, x = (int)(pixel % shape.w) + d % 3 - 1;
    if (y < 0 || y >= shape.h || x < 0 || x >= shape.w)
        return 0;
    return (double)input[conv_block_input_at(shape, n, d / TAPS, y, x)];
}

// One block per element. moments: (9c + 1, 9c); this is its first row
__global__ void stem_block_patch_means(conv_block_shape shape, const float *input, double *moments)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    size_t pixels = (size_t)shape.n * shape.h * shape.w;
    double sum = 0;
    for (size_t i = threadIdx.x; i < pixels; i += CONV_BLOCK_SUM_THREADS)
        sum += patch_element(shape, input, i, blockIdx.x);
    sum = conv_block_block_sum(sum, shared);
    if (threadIdx.x == 0)
        moments[blockIdx.x] = sum / (double)pixels;
}

// One block per pair of elements d <= e: the rows that follow.
__global__ void stem_block_patch_covariances(conv_block_shape shape, const float *input, double *moments)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    size_t pixels = (size_t)shape.n * shape.h * shape.w;
    int d = blockIdx.y, e = blockIdx.x, patch = gridDim.x;
    if (e < d)
        return;
    double sum = 0, mean_d = moments[d], mean_e = moments[e];
    for (size_t i = threadIdx.x; i < pixels; i += CONV_BLOCK_SUM_THREADS)
        sum += (patch_element(shape, input, i, d) - mean_d) * (patch_element(shape, input, i, e) - mean_e);
    sum = conv_block_block_sum(sum, shared);
    if (threadIdx.x == 0)
        moments[(d + 1) * patch + e] = moments[(e + 1) * patch + d] = sum / (double)pixels;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const conv_block_shape &shape = *(const conv_block_shape *)call->shape;
    const float *const *input = (const float *const *)call->input;
    double *moments = (double *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int patch = heddle_stem_block_patch(&shape);
    stem_block_patch_means<<<patch, CONV_BLOCK_SUM_THREADS, 0, stream>>>(shape, input[0], moments);
    stem_block_patch_covariances<<<dim3(patch, patch), CONV_BLOCK_SUM_THREADS, 0, stream>>>(shape, input[0], moments);
    conv_block_launch_layers_forward(stream, shape, input[0], input[1], input[3], input[4],
                                     conv_block_statistics_of(call), (float *)call->workspace, (float *)call->output[0],
                                     (uint8_t *)call->output[4]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const conv_block_shape &shape = *(const conv_block_shape *)call->shape;
    float *convolution = (float *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    conv_block_layers_backward of;
    of.input = (const float *)call->input[0];
    of.weight = (const float *)call->input[1];
    of.gamma = (const float *)call->input[2];
    of.convolution = convolution;
    of.mean = (const float *)call->input[5];
    of.inverse_std = (const float *)call->input[6];
    of.code = (const uint8_t *)call->input[7];
    of.grad_output = (const float *)call->input[8];
    of.grad = convolution + conv_block_convolution_size(shape);
    of.grad_input = NULL;
    of.grad_weight = (float *)call->output[0];
    of.grad_bias = (float *)call->output[1];
    of.grad_gamma = (float *)call->output[2];
    of.grad_beta = (float *)call->output[3];
    conv_block_launch_convolution(stream, shape, of.input, of.weight, convolution);
    conv_block_launch_layers_backward(stream, shape, of);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_inference(const heddle_call *call)
{
    conv_block_launch_layers_inference(call);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("stem_block_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("stem_block_backward", "01_naive", launch_backward)
HEDDLE_CUDA_RUNG("stem_block_inference", "01_naive", launch_inference)
