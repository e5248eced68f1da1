// softmax and log_softmax, rung 1: one thread per row.
//
// The row's largest value is subtracted before exp, so that nothing overflows.
//
// Limited by: one thread reading a whole row, three times. A warp's loads are a row apart: 32 sectors per request.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

__device__ static float row_max(const float *x, int cols)
{
    float most = x[0];
    for (int j = 1; j < cols; j++)
        most = x[j] > most ? x[j] : most;
    return most;
}

__device__ static float exp_sum(const float *x, int cols, float most)
{
    float sum = 0;
    for (int j = 0; j < cols; j++)
        sum += expf(x[j] - most);
    return sum;
}

// input and output: (rows, cols)
__global__ void softmax_forward(heddle_rows_shape shape, const float *input, float *output)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = input + row * shape.cols;
    float most = row_max(x, shape.cols), sum = exp_sum(x, shape.cols, most);
    for (int j = 0; j < shape.cols; j++)
        output[row * shape.cols + j] = expf(x[j] - most) / sum;
}

__global__ void log_softmax_forward(heddle_rows_shape shape, const float *input, float *output)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = input + row * shape.cols;
    float most = row_max(x, shape.cols), log_sum = logf(exp_sum(x, shape.cols, most));
    for (int j = 0; j < shape.cols; j++)
        output[row * shape.cols + j] = x[j] - most - log_sum;
}

// grad_input = y * (grad - Σ grad * y)
__global__ void softmax_backward(heddle_rows_shape shape, const float *output, const float *grad_output,
                                 float *grad_input)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *y = output + row * shape.cols, *grad = grad_output + row * shape.cols;
    float sum = 0;
    for (int j = 0; j < shape.cols; j++)
        sum += grad[j] * y[j];
    for (int j = 0; j < shape.cols; j++)
        grad_input[row * shape.cols + j] = y[j] * (grad[j] - sum);
}

// grad_input = grad - exp(y) * Σ grad
__global__ void log_softmax_backward(heddle_rows_shape shape, const float *output, const float *grad_output,
                                     float *grad_input)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *y = output + row * shape.cols, *grad = grad_output + row * shape.cols;
    float sum = 0;
    for (int j = 0; j < shape.cols; j++)
        sum += grad[j];
    for (int j = 0; j < shape.cols; j++)
        grad_input[row * shape.cols + j] = grad[j] - expf(y[j]) * sum;
}

// With 0 there is nothing to do.
static unsigned blocks_of(const heddle_rows_shape *shape)
{
    return shape->cols > 0 ? heddle_cuda_blocks(shape->rows) : 0;
}

static heddle_status launch_softmax_forward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    if (blocks_of(shape) > 0)
        softmax_forward<<<blocks_of(shape), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_log_softmax_forward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    if (blocks_of(shape) > 0)
        log_softmax_forward<<<blocks_of(shape), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_softmax_backward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    if (blocks_of(shape) > 0)
        softmax_backward<<<blocks_of(shape), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_log_softmax_backward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    if (blocks_of(shape) > 0)
        log_softmax_backward<<<blocks_of(shape), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("softmax_forward", "01_naive", launch_softmax_forward)
HEDDLE_CUDA_RUNG("softmax_backward", "01_naive", launch_softmax_backward)
HEDDLE_CUDA_RUNG("log_softmax_forward", "01_naive", launch_log_softmax_forward)
HEDDLE_CUDA_RUNG("log_softmax_backward", "01_naive", launch_log_softmax_backward)
