// cross_entropy, rung 1. Forward: one thread per row, then one thread that adds the rows in order. Backward: one thread
// per element.
//
// A kernel cannot report a label that is not a class: the loss and the row's gradients become NaN, and nothing is read
// beyond the row.
//
// Limited by: one thread reading a whole row, three times, and the last sum, which a single thread computes.

#include "heddle/ops.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cuda/rung.h"

__device__ static bool is_class(const heddle_rows_shape &shape, int32_t label)
{
    return label >= 0 && label < shape.cols;
}

__device__ static int first_largest(const float *x, int cols)
{
    int best = 0;
    for (int j = 1; j < cols; j++)
        if (x[j] > x[best])
            best = j;
    return best;
}

// logits and probabilities: (rows, cols), labels and results: (rows)
__global__ void cross_entropy_rows(heddle_rows_shape shape, const float *logits, const int32_t *labels,
                                   float *probabilities, heddle_cross_entropy_row *results)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.rows)
        return;
    const float *x = logits + row * shape.cols;
    int best = first_largest(x, shape.cols);
    float sum = 0;
    for (int j = 0; j < shape.cols; j++)
        sum += expf(x[j] - x[best]);
    for (int j = 0; j < shape.cols; j++)
        probabilities[row * shape.cols + j] = expf(x[j] - x[best]) / sum;
    int32_t label = labels[row];
    results[row].loss = is_class(shape, label) ? logf(sum) + x[best] - x[label] : NAN;
    results[row].correct = best == label;
}

__global__ void cross_entropy_total(heddle_rows_shape shape, const heddle_cross_entropy_row *results, float *loss,
                                    int32_t *correct)
{
    double total = 0;
    int32_t right = 0;
    for (int row = 0; row < shape.rows; row++) {
        total += results[row].loss;
        right += results[row].correct;
    }
    *loss = (float)(total / shape.rows);
    *correct = right;
}

__global__ void cross_entropy_backward(heddle_rows_shape shape, const float *probabilities, const int32_t *labels,
                                       const float *grad_loss, float *grad_logits)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.rows * shape.cols)
        return;
    int32_t label = labels[at / shape.cols];
    float expected = is_class(shape, label) ? (int32_t)(at % shape.cols) == label : NAN;
    grad_logits[at] = (probabilities[at] - expected) * (*grad_loss / (float)shape.rows);
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    heddle_cross_entropy_row *results = (heddle_cross_entropy_row *)call->workspace;
    cross_entropy_rows<<<heddle_cuda_blocks(shape->rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, (const float *)call->input[0], (const int32_t *)call->input[1], (float *)call->output[1], results);
    cross_entropy_total<<<1, 1, 0, heddle_cuda_stream_of(call)>>>(*shape, results, (float *)call->output[0],
                                                                  (int32_t *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->rows * shape->cols);
    cross_entropy_backward<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, (const float *)call->input[0], (const int32_t *)call->input[1], (const float *)call->input[2],
        (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("cross_entropy_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("cross_entropy_backward", "01_naive", launch_backward)
