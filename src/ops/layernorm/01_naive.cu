// layernorm, rung 1: one thread per row; for the gradients of gamma and beta, one thread per column.
//
// The mean is computed first and the squares are taken around it: the shortcut E[x²] - E[x]² would lose every digit of
// the variance if the mean is far from 0. Everything is in double, since one thread sums a whole row or column.
//
// Limited by: one thread reading a whole row, three times. A warp's loads are a row apart: 32 sectors per request. The
// columns' sums are coalesced, but keep only cols threads busy.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input and output: (rows, cols), gamma and beta: (cols), saved_mean and saved_inverse_std: (rows)
__global__ void layernorm_forward(heddle_layernorm_shape shape, const float *input, const float *gamma,
                                  const float *beta, float *output, float *saved_mean, float *saved_inverse_std)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = input + row * shape.cols;
    double sum = 0, squares = 0;
    for (int j = 0; j < shape.cols; j++)
        sum += x[j];
    double mean = sum / shape.cols;
    for (int j = 0; j < shape.cols; j++)
        squares += (x[j] - mean) * (x[j] - mean);
    double inverse_std = 1 / sqrt(squares / shape.cols + shape.epsilon);
    for (int j = 0; j < shape.cols; j++)
        output[row * shape.cols + j] = (float)((x[j] - mean) * inverse_std * gamma[j] + beta[j]);
    saved_mean[row] = (float)mean;
    saved_inverse_std[row] = (float)inverse_std;
}

// With scaled = grad * gamma and n = (x - mean) / std:
// grad_input = (scaled - mean(scaled) - n * mean(scaled * n)) / std
__global__ void layernorm_grad_input(heddle_layernorm_shape shape, const float *input, const float *gamma,
                                     const float *mean, const float *inverse_std, const float *grad_output,
                                     float *grad_input)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = input + row * shape.cols, *grad = grad_output + row * shape.cols;
    double center = mean[row], scale = inverse_std[row], sum = 0, product = 0;
    for (int j = 0; j < shape.cols; j++) {
        double scaled = (double)grad[j] * gamma[j];
        sum += scaled;
        product += scaled * ((x[j] - center) * scale);
    }
    for (int j = 0; j < shape.cols; j++) {
        double scaled = (double)grad[j] * gamma[j], normalised = (x[j] - center) * scale;
        grad_input[row * shape.cols + j] =
            (float)(scale * (scaled - sum / shape.cols - normalised * (product / shape.cols)));
    }
}

__global__ void layernorm_grad_columns(heddle_layernorm_shape shape, const float *input, const float *mean,
                                       const float *inverse_std, const float *grad_output, float *grad_gamma,
                                       float *grad_beta)
{
    int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (col >= shape.cols)
        return;
    double sum = 0, product = 0;
    for (int row = 0; row < shape.rows; row++) {
        size_t at = (size_t)row * shape.cols + col;
        sum += grad_output[at];
        product += grad_output[at] * (((double)input[at] - mean[row]) * inverse_std[row]);
    }
    grad_gamma[col] = (float)product;
    grad_beta[col] = (float)sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    if (shape->rows > 0)
        layernorm_forward<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    const float *input = (const float *)call->input[0], *gamma = (const float *)call->input[1];
    const float *mean = (const float *)call->input[2], *inverse_std = (const float *)call->input[3];
    const float *grad_output = (const float *)call->input[4];
    float *grad_input = (float *)call->output[0];
    if (grad_input && shape->rows > 0)
        layernorm_grad_input<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, gamma, mean, inverse_std, grad_output, grad_input);
    layernorm_grad_columns<<<heddle_cuda_blocks(shape->cols), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, input, mean, inverse_std, grad_output, (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("layernorm_backward", "01_naive", launch_backward)
