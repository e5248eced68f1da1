// token_loss, rung 1: one thread per row; for the gradient alone, one thread per element.
//
// Limited by: few threads, each of which reads its own row: neighbouring threads read addresses a whole row apart.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

typedef heddle_token_loss_shape loss_shape;

__device__ static float log_sum_of(const float *x, int cols)
{
    float most = x[0];
    for (int j = 1; j < cols; j++)
        most = fmaxf(most, x[j]);
    float sum = expf(x[0] - most);
    for (int j = 1; j < cols; j++)
        sum += expf(x[j] - most);
    return most + logf(sum);
}

// A kernel cannot report a label that is no column: the loss becomes NaN, and nothing is read beyond the row.
__device__ static float loss_of(const loss_shape &shape, const float *x, int64_t label, float log_sum)
{
    if (label == (int64_t)shape.ignored)
        return 0;
    return label >= 0 && label < shape.cols ? log_sum - x[label] : NAN;
}

__device__ static float slope(const loss_shape &shape, float x, int col, int64_t label, float log_sum, float factor)
{
    if (label == (int64_t)shape.ignored)
        return 0;
    float known = label >= 0 && label < shape.cols ? 0 : NAN;
    return (expf(x - log_sum) - (col == label ? 1 : known)) * factor;
}

// logits: (rows, cols); labels, losses, log_sums: (rows)
__global__ void token_loss_forward_naive(loss_shape shape, const float *logits, const int64_t *labels, float *losses,
                                         float *log_sums)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = logits + row * shape.cols;
    float log_sum = log_sum_of(x, shape.cols);
    losses[row] = loss_of(shape, x, labels[row], log_sum);
    log_sums[row] = log_sum;
}

__global__ void token_loss_backward_naive(loss_shape shape, const float *logits, const int64_t *labels,
                                          const float *log_sums, const float *grad_losses, float *grad_logits)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, row = i / shape.cols;
    if (row >= (size_t)shape.rows)
        return;
    grad_logits[i] = slope(shape, logits[i], (int)(i % shape.cols), labels[row], log_sums[row], grad_losses[row]);
}

__global__ void token_loss_both_naive(loss_shape shape, const float *logits, const int64_t *labels, const float *factor,
                                      float *losses, float *gradient)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = logits + row * shape.cols;
    float log_sum = log_sum_of(x, shape.cols);
    losses[row] = loss_of(shape, x, labels[row], log_sum);
    for (int j = 0; j < shape.cols; j++)
        gradient[row * shape.cols + j] = slope(shape, x[j], j, labels[row], log_sum, *factor);
}

static heddle_status launch_forward(const heddle_call *call)
{
    const loss_shape *shape = (const loss_shape *)call->shape;
    if (shape->rows > 0)
        token_loss_forward_naive<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0,
                                   heddle_cuda_stream_of(call)>>>(*shape, (const float *)call->input[0],
                                                                  (const int64_t *)call->input[1],
                                                                  (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const loss_shape *shape = (const loss_shape *)call->shape;
    if (shape->rows > 0)
        token_loss_backward_naive<<<heddle_cuda_blocks((size_t)shape->rows * shape->cols), HEDDLE_CUDA_BLOCK, 0,
                                    heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const int64_t *)call->input[1], (const float *)call->input[2],
            (const float *)call->input[3], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_both(const heddle_call *call)
{
    const loss_shape *shape = (const loss_shape *)call->shape;
    if (shape->rows > 0)
        token_loss_both_naive<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const int64_t *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("token_loss_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("token_loss_backward", "01_naive", launch_backward)
HEDDLE_CUDA_RUNG("token_loss_both", "01_naive", launch_both)
