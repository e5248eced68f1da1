// token_loss_both, rung 2: the row waits in shared memory until its sum is known.
//
// Loss and gradient one after the other read the logits twice and write them once. A training step needs both, and the
// gradient of a mean or a sum is the probabilities times one number that is known beforehand. So a block reads a row
// once, keeps it in shared memory (50,257 floats are 196 KiB, and a block on Hopper may have 227), and writes the
// gradient from there. A row that is longer than the card's shared memory is read again; most of it is still in the
// second-level cache.
//
// Limited by: memory bandwidth; rows of more than half the shared memory by one block per SM, which waits at the end of
// its row.

#include "ops/token_loss/online.h"

typedef heddle_token_loss_shape loss_shape;

// logits, gradient: (rows, cols); labels, losses: (rows); factor: (1)
template <int threads, bool keeps>
__global__ void __launch_bounds__(threads)
    token_loss_both_in_shared(loss_shape shape, bool together, const float *logits, const int64_t *labels,
                              const float *factor, float *losses, float *gradient)
{
    extern __shared__ float4 shared_row[]; // (cols + 3), rounded up
    const float *x = logits + (size_t)blockIdx.x * shape.cols;
    float *y = gradient + (size_t)blockIdx.x * shape.cols;
    token_loss_row row = token_loss_row_at(x, shape.cols, together);
    int64_t label = labels[blockIdx.x];
    if (label == (int64_t)shape.ignored) {
        token_loss_write_zero<threads>(row, y);
        if (threadIdx.x == 0)
            losses[blockIdx.x] = 0;
        return;
    }
    // Shifted, so that the vectors of the row are vectors here.
    float *keep = (float *)shared_row + (HEDDLE_VECTOR - row.head % HEDDLE_VECTOR) % HEDDLE_VECTOR;
    token_loss_part part = token_loss_read<threads, keeps>(row, x, keep);
    float weight = *factor; // each thread has kept what it reads now: no barrier is needed
    token_loss_write<threads>(row, keeps ? keep : x, part.most, weight / part.sum, label, weight, y);
    if (threadIdx.x == 0)
        losses[blockIdx.x] = token_loss_of(shape, x, label, part);
}

typedef void both_kernel(loss_shape shape, bool together, const float *logits, const int64_t *labels,
                         const float *factor, float *losses, float *gradient);

static heddle_status launch(const heddle_call *call)
{
    static both_kernel *const kernels[2][2] = {
        {token_loss_both_in_shared<TOKEN_LOSS_LONG, false>, token_loss_both_in_shared<TOKEN_LOSS_LONG, true>},
        {token_loss_both_in_shared<TOKEN_LOSS_SHORT, false>, token_loss_both_in_shared<TOKEN_LOSS_SHORT, true>}};
    const loss_shape *shape = (const loss_shape *)call->shape;
    if (shape->rows == 0)
        return HEDDLE_OK;
    const float *logits = (const float *)call->input[0];
    float *gradient = (float *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int most = 0, own = 1024; // bytes of the kernel's own shared memory, at most
    HEDDLE_CUDA_TRY(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, heddle_cuda_device_of(call)));
    size_t bytes = sizeof(float4) * ((size_t)shape->cols / HEDDLE_VECTOR + 2);
    bool few = shape->cols <= TOKEN_LOSS_COLS, keeps = bytes + (size_t)own <= (size_t)most;
    both_kernel *kernel = kernels[few][keeps];
    if (keeps)
        HEDDLE_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    kernel<<<shape->rows, few ? TOKEN_LOSS_SHORT : TOKEN_LOSS_LONG, keeps ? bytes : 0, stream>>>(
        *shape, token_loss_together(logits, gradient), logits, (const int64_t *)call->input[1],
        (const float *)call->input[2], (float *)call->output[0], gradient);
    return heddle_cuda_launched("02_row_in_shared");
}

HEDDLE_CUDA_RUNG("token_loss_both", "02_row_in_shared", launch)
