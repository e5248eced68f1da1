// rmsnorm, rung 1: one thread per row; for the gradient of the weight, one thread per column. Sums are in double, since
// one thread has a whole row or column.
//
// Limited by: one thread reading a whole row, twice. A warp's loads are a row apart: 32 sectors per request. The
// columns' sums are coalesced, but keep only cols threads busy.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input and output: (rows, cols), weight: (cols), saved_inverse_rms: (rows)
__global__ void rmsnorm_forward(heddle_layernorm_shape shape, const float *input, const float *weight, float *output,
                                float *saved_inverse_rms)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = input + row * shape.cols;
    double squares = 0;
    for (int j = 0; j < shape.cols; j++)
        squares += (double)x[j] * x[j];
    double inverse_rms = 1 / sqrt(squares / shape.cols + shape.epsilon);
    for (int j = 0; j < shape.cols; j++)
        output[row * shape.cols + j] = (float)(x[j] * inverse_rms * weight[j]);
    saved_inverse_rms[row] = (float)inverse_rms;
}

// With scaled = grad * weight and n = x / rms: grad_input = (scaled - n * mean(scaled * n)) / rms
__global__ void rmsnorm_grad_input(heddle_layernorm_shape shape, const float *input, const float *weight,
                                   const float *inverse_rms, const float *grad_output, float *grad_input)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = input + row * shape.cols, *grad = grad_output + row * shape.cols;
    double scale = inverse_rms[row], product = 0;
    for (int j = 0; j < shape.cols; j++)
        product += (double)grad[j] * weight[j] * (x[j] * scale);
    for (int j = 0; j < shape.cols; j++)
        grad_input[row * shape.cols + j] =
            (float)(scale * ((double)grad[j] * weight[j] - x[j] * scale * (product / shape.cols)));
}

__global__ void rmsnorm_grad_weight(heddle_layernorm_shape shape, const float *input, const float *inverse_rms,
                                    const float *grad_output, float *grad_weight)
{
    int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (col >= shape.cols)
        return;
    double sum = 0;
    for (int row = 0; row < shape.rows; row++) {
        size_t at = (size_t)row * shape.cols + col;
        sum += grad_output[at] * ((double)input[at] * inverse_rms[row]);
    }
    grad_weight[col] = (float)sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    if (shape->rows > 0)
        rmsnorm_forward<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
            (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    const float *input = (const float *)call->input[0], *inverse_rms = (const float *)call->input[2];
    const float *grad_output = (const float *)call->input[3];
    float *grad_input = (float *)call->output[0];
    if (grad_input && shape->rows > 0)
        rmsnorm_grad_input<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, (const float *)call->input[1], inverse_rms, grad_output, grad_input);
    rmsnorm_grad_weight<<<heddle_cuda_blocks(shape->cols), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, input, inverse_rms, grad_output, (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("rmsnorm_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("rmsnorm_backward", "01_naive", launch_backward)
