// token_loss, rung 2: one block per row, its largest value and its sum in one pass, 16 bytes per access.
//
// Rung 1 read a row twice, one thread for all of it. Here a block reads it once: each thread keeps the largest value it
// has seen and the sum of exp(x - largest), scales the sum down when a larger value comes (the online softmax), and the
// threads merge both at the end. Only the loss and the log of the sum are written, 8 bytes per row. Backward computes
// the probabilities again from the logits and that log: saving them would be one more pass over as many bytes.
//
// Limited by: memory bandwidth.

#include "ops/token_loss/online.h"

typedef heddle_token_loss_shape loss_shape;

// logits: (rows, cols); labels, losses, log_sums: (rows)
template <int threads>
__global__ void __launch_bounds__(threads)
    token_loss_forward_online(loss_shape shape, const float *logits, const int64_t *labels, float *losses,
                              float *log_sums)
{
    const float *x = logits + (size_t)blockIdx.x * shape.cols;
    token_loss_part part = token_loss_read<threads, false>(token_loss_row_at(x, shape.cols, true), x, nullptr);
    if (threadIdx.x > 0)
        return;
    losses[blockIdx.x] = token_loss_of(shape, x, labels[blockIdx.x], part);
    log_sums[blockIdx.x] = part.most + logf(part.sum);
}

// logits, grad_logits: (rows, cols); labels, log_sums, grad_losses: (rows)
template <int threads>
__global__ void __launch_bounds__(threads)
    token_loss_backward_online(loss_shape shape, bool together, const float *logits, const int64_t *labels,
                               const float *log_sums, const float *grad_losses, float *grad_logits)
{
    const float *x = logits + (size_t)blockIdx.x * shape.cols;
    float *gradient = grad_logits + (size_t)blockIdx.x * shape.cols;
    token_loss_row row = token_loss_row_at(x, shape.cols, together);
    int64_t label = labels[blockIdx.x];
    float factor = grad_losses[blockIdx.x];
    if (label == (int64_t)shape.ignored)
        token_loss_write_zero<threads>(row, gradient);
    else
        token_loss_write<threads>(row, x, log_sums[blockIdx.x], factor, label, factor, gradient);
}

static heddle_status launch_forward(const heddle_call *call)
{
    const loss_shape *shape = (const loss_shape *)call->shape;
    bool few = shape->cols <= TOKEN_LOSS_COLS;
    if (shape->rows > 0)
        (few ? token_loss_forward_online<TOKEN_LOSS_SHORT>
             : token_loss_forward_online<TOKEN_LOSS_LONG>)<<<shape->rows, few ? TOKEN_LOSS_SHORT : TOKEN_LOSS_LONG, 0,
                                                             heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const int64_t *)call->input[1], (float *)call->output[0],
            (float *)call->output[1]);
    return heddle_cuda_launched("02_online");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const loss_shape *shape = (const loss_shape *)call->shape;
    const float *logits = (const float *)call->input[0];
    float *grad_logits = (float *)call->output[0];
    bool few = shape->cols <= TOKEN_LOSS_COLS;
    if (shape->rows > 0)
        (few ? token_loss_backward_online<TOKEN_LOSS_SHORT>
             : token_loss_backward_online<TOKEN_LOSS_LONG>)<<<shape->rows, few ? TOKEN_LOSS_SHORT : TOKEN_LOSS_LONG, 0,
                                                              heddle_cuda_stream_of(call)>>>(
            *shape, token_loss_together(logits, grad_logits), logits, (const int64_t *)call->input[1],
            (const float *)call->input[2], (const float *)call->input[3], grad_logits);
    return heddle_cuda_launched("02_online");
}

HEDDLE_CUDA_RUNG("token_loss_forward", "02_online", launch_forward)
HEDDLE_CUDA_RUNG("token_loss_backward", "02_online", launch_backward)
