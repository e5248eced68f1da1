// rmsnorm, rung 2: one block per row; for the gradient of the weight, eight warps per 32 columns.
//
// Rung 1 gave a row to one thread: a warp's loads were a row apart, and a row was processed serially. Here neighbouring
// threads read neighbouring elements, the 256 threads of a block share a row, and shuffles add their sums
// (row_group.h). A column has eight threads, one in each warp of a block, which take rows in turn.
//
// Limited by: a second pass over the row, 4 bytes per load, and a block of which a short row leaves threads idle.
// Backward reads input and grad_output again for the columns.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum { THREADS = HEDDLE_CUDA_BLOCK, WARP = HEDDLE_WARP, TALL = THREADS / WARP };

// input and output: (rows, cols), weight: (cols), saved_inverse_rms: (rows)
__global__ void rmsnorm_block_per_row(heddle_layernorm_shape shape, const float *input, const float *weight,
                                      float *output, float *saved_inverse_rms)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    const float *x = input + (size_t)blockIdx.x * shape.cols;
    float *y = output + (size_t)blockIdx.x * shape.cols, squares = 0;
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        squares += x[j] * x[j];
    float inverse_rms = 1 / sqrtf(heddle_group_sum<THREADS>(squares, of_warp) / shape.cols + shape.epsilon);
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        y[j] = x[j] * inverse_rms * weight[j];
    if (threadIdx.x == 0)
        saved_inverse_rms[blockIdx.x] = inverse_rms;
}

// With scaled = grad * weight and n = x / rms: grad_input = (scaled - n * mean(scaled * n)) / rms
__global__ void rmsnorm_grad_input_block(heddle_layernorm_shape shape, const float *input, const float *weight,
                                         const float *inverse_rms, const float *grad_output, float *grad_input)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    size_t at = (size_t)blockIdx.x * shape.cols;
    const float *x = input + at, *grad = grad_output + at;
    float scale = inverse_rms[blockIdx.x], product = 0;
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        product += grad[j] * weight[j] * (x[j] * scale);
    product = heddle_group_sum<THREADS>(product, of_warp) / shape.cols;
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        grad_input[at + j] = scale * (grad[j] * weight[j] - x[j] * scale * product);
}

__global__ void rmsnorm_grad_weight_warps(heddle_layernorm_shape shape, const float *input, const float *inverse_rms,
                                          const float *grad_output, float *grad_weight)
{
    __shared__ float of_warp[TALL][WARP];
    int col = (int)(blockIdx.x * WARP + threadIdx.x);
    float sum = 0;
    for (int row = threadIdx.y; col < shape.cols && row < shape.rows; row += TALL) {
        size_t at = (size_t)row * shape.cols + col;
        sum += grad_output[at] * (input[at] * inverse_rms[row]);
    }
    of_warp[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || col >= shape.cols)
        return;
    for (int warp = 1; warp < TALL; warp++)
        sum += of_warp[warp][threadIdx.x];
    grad_weight[col] = sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    if (shape->rows > 0)
        rmsnorm_block_per_row<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
            (float *)call->output[1]);
    return heddle_cuda_launched("02_block_per_row");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    const float *input = (const float *)call->input[0], *inverse_rms = (const float *)call->input[2];
    const float *grad_output = (const float *)call->input[3];
    float *grad_input = (float *)call->output[0];
    if (grad_input && shape->rows > 0)
        rmsnorm_grad_input_block<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, (const float *)call->input[1], inverse_rms, grad_output, grad_input);
    rmsnorm_grad_weight_warps<<<heddle_ceil_div(shape->cols, WARP), dim3(WARP, TALL), 0, heddle_cuda_stream_of(call)>>>(
        *shape, input, inverse_rms, grad_output, (float *)call->output[1]);
    return heddle_cuda_launched("02_block_per_row");
}

HEDDLE_CUDA_RUNG("rmsnorm_forward", "02_block_per_row", launch_forward)
HEDDLE_CUDA_RUNG("rmsnorm_backward", "02_block_per_row", launch_backward)
