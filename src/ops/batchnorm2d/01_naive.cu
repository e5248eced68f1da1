// batchnorm2d, rung 1: one thread per channel computes the sums, then one thread per element uses them.
//
// The mean is computed first and the squares are taken around it: the shortcut E[x²] - E[x]² would lose every digit of
// the variance if the mean is far from 0. For the same reason the mean stays a double between the kernels, in the
// workspace.
//
// Limited by: the sums, which keep only c threads busy, one number at a time, with every lane of a warp in a different
// plane.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Start of channel c of image n.
__device__ static size_t plane_at(const heddle_batchnorm2d_shape &shape, int n, int c)
{
    return ((size_t)n * shape.c + c) * shape.h * shape.w;
}

__global__ void batchnorm2d_statistics(heddle_batchnorm2d_shape shape, const float *input, double *mean,
                                       float *saved_mean, float *saved_inverse_std, float *running_mean,
                                       float *running_var)
{
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= shape.c)
        return;
    size_t plane = (size_t)shape.h * shape.w;
    double count = (double)plane * shape.n, sum = 0, squares = 0;
    for (int n = 0; n < shape.n; n++)
        for (size_t i = 0; i < plane; i++)
            sum += input[plane_at(shape, n, c) + i];
    mean[c] = sum / count;
    for (int n = 0; n < shape.n; n++)
        for (size_t i = 0; i < plane; i++) {
            double difference = input[plane_at(shape, n, c) + i] - sum / count;
            squares += difference * difference;
        }
    saved_mean[c] = (float)(sum / count);
    saved_inverse_std[c] = (float)(1.0 / sqrt(squares / count + shape.epsilon));
    if (running_mean)
        running_mean[c] += shape.momentum * ((float)(sum / count) - running_mean[c]);
    if (running_var)
        running_var[c] += shape.momentum * ((float)(squares / (count - 1)) - running_var[c]);
}

__global__ void batchnorm2d_normalise(heddle_batchnorm2d_shape shape, const float *input, const float *gamma,
                                      const float *beta, const double *mean, const float *inverse_std, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane)
        return;
    size_t c = at / plane % shape.c;
    output[at] = (float)((input[at] - mean[c]) * inverse_std[c] * gamma[c] + beta[c]);
}

__global__ void batchnorm2d_grad_channels(heddle_batchnorm2d_shape shape, const float *input, const float *mean,
                                          const float *inverse_std, const float *grad_output, float *grad_gamma,
                                          float *grad_beta)
{
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= shape.c)
        return;
    size_t plane = (size_t)shape.h * shape.w;
    double sum = 0, product = 0;
    for (int n = 0; n < shape.n; n++)
        for (size_t i = 0; i < plane; i++) {
            size_t at = plane_at(shape, n, c) + i;
            sum += grad_output[at];
            product += grad_output[at] * ((input[at] - mean[c]) * inverse_std[c]);
        }
    grad_gamma[c] = (float)product;
    grad_beta[c] = (float)sum;
}

// grad_input = gamma / std * (grad - mean(grad) - normalised * mean(grad * normalised))
__global__ void batchnorm2d_grad_input(heddle_batchnorm2d_shape shape, const float *input, const float *gamma,
                                       const float *mean, const float *inverse_std, const float *grad_output,
                                       const float *grad_gamma, const float *grad_beta, float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane)
        return;
    size_t c = at / plane % shape.c;
    float count = (float)plane * shape.n;
    float normalised = (input[at] - mean[c]) * inverse_std[c];
    grad_input[at] =
        gamma[c] * inverse_std[c] * (grad_output[at] - grad_beta[c] / count - normalised * (grad_gamma[c] / count));
}

__global__ void batchnorm2d_inference(heddle_batchnorm2d_shape shape, const float *input, const float *gamma,
                                      const float *beta, const float *running_mean, const float *running_var,
                                      float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane)
        return;
    size_t c = at / plane % shape.c;
    float normalised = (input[at] - running_mean[c]) / sqrtf(running_var[c] + shape.epsilon);
    output[at] = normalised * gamma[c] + beta[c];
}

static size_t elements(const heddle_batchnorm2d_shape *shape)
{
    return (size_t)shape->n * shape->c * shape->h * shape->w;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *inverse_std = (float *)call->output[2];
    double *mean = (double *)call->workspace;
    if (shape->c == 0)
        return HEDDLE_OK;
    batchnorm2d_statistics<<<heddle_cuda_blocks(shape->c), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, input, mean, (float *)call->output[1], inverse_std, (float *)call->output[3], (float *)call->output[4]);
    batchnorm2d_normalise<<<heddle_cuda_blocks(elements(shape)), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, input, (const float *)call->input[1], (const float *)call->input[2], mean, inverse_std,
        (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    const float *input = (const float *)call->input[0], *gamma = (const float *)call->input[1];
    const float *mean = (const float *)call->input[2], *inverse_std = (const float *)call->input[3];
    const float *grad_output = (const float *)call->input[4];
    float *grad_input = (float *)call->output[0], *grad_gamma = (float *)call->output[1];
    float *grad_beta = (float *)call->output[2];
    if (shape->c == 0)
        return HEDDLE_OK;
    batchnorm2d_grad_channels<<<heddle_cuda_blocks(shape->c), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, input, mean, inverse_std, grad_output, grad_gamma, grad_beta);
    if (grad_input)
        batchnorm2d_grad_input<<<heddle_cuda_blocks(elements(shape)), HEDDLE_CUDA_BLOCK, 0,
                                 heddle_cuda_stream_of(call)>>>(*shape, input, gamma, mean, inverse_std, grad_output,
                                                                grad_gamma, grad_beta, grad_input);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_inference(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(elements(shape));
    if (blocks > 0)
        batchnorm2d_inference<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (const float *)call->input[3], (const float *)call->input[4], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("batchnorm2d_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("batchnorm2d_backward", "01_naive", launch_backward)
HEDDLE_CUDA_RUNG("batchnorm2d_inference", "01_naive", launch_inference)
