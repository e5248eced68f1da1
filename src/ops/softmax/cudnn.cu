// softmax and log_softmax by cuDNN: its accurate algorithm, which subtracts a row's largest element first, as heddle's
// rungs do.
//
// Limited by: memory bandwidth.

#include "ops/cuda/cudnn_handle.h"

#include "heddle/ops.h"

// A row is a sample of `cols` channels. One descriptor per call: creating it is cheap compared with a launch.
static heddle_status describe(const heddle_call *call, cudnnTensorDescriptor_t *rows)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    HEDDLE_CUDA_TRY(cudnnCreateTensorDescriptor(rows));
    heddle_status status = HEDDLE_CUDA_CHECK(
        cudnnSetTensor4dDescriptor(*rows, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape->rows, shape->cols, 1, 1));
    if (status != HEDDLE_OK)
        cudnnDestroyTensorDescriptor(*rows);
    return status;
}

static bool is_empty(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    return shape->rows == 0 || shape->cols == 0;
}

static const float one = 1, zero = 0;

enum { OPERANDS = 3 }; // input or output, its gradient in the backward pass, what is written

static heddle_status run(const heddle_call *call, cudnnSoftmaxAlgorithm_t algorithm, cudnnTensorDescriptor_t rows,
                         bool backward)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    size_t bytes = (size_t)shape->rows * shape->cols * sizeof(float);
    cudnnHandle_t handle;
    void *nothing;
    heddle_cudnn_operand of[OPERANDS] = {{call->input[0], bytes, false, NULL},
                                         {backward ? call->input[1] : NULL, bytes, false, NULL},
                                         {call->output[0], bytes, true, NULL}};
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    HEDDLE_TRY(heddle_cudnn_align(call, 0, of, OPERANDS, &nothing));
    if (backward)
        HEDDLE_CUDA_TRY(cudnnSoftmaxBackward(handle, algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &one, rows, of[0].used,
                                             rows, of[1].used, &zero, rows, of[2].used));
    else
        HEDDLE_CUDA_TRY(cudnnSoftmaxForward(handle, algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &one, rows, of[0].used,
                                            &zero, rows, of[2].used));
    return heddle_cudnn_deliver(call, of, OPERANDS);
}

static heddle_status launch(const heddle_call *call, cudnnSoftmaxAlgorithm_t algorithm, bool backward)
{
    cudnnTensorDescriptor_t rows;
    if (is_empty(call))
        return HEDDLE_OK;
    HEDDLE_TRY(describe(call, &rows));
    heddle_status status = run(call, algorithm, rows, backward);
    cudnnDestroyTensorDescriptor(rows);
    return status;
}

static heddle_status launch_softmax_forward(const heddle_call *call)
{
    return launch(call, CUDNN_SOFTMAX_ACCURATE, false);
}

static heddle_status launch_softmax_backward(const heddle_call *call)
{
    return launch(call, CUDNN_SOFTMAX_ACCURATE, true);
}

static heddle_status launch_log_softmax_forward(const heddle_call *call)
{
    return launch(call, CUDNN_SOFTMAX_LOG, false);
}

static heddle_status launch_log_softmax_backward(const heddle_call *call)
{
    return launch(call, CUDNN_SOFTMAX_LOG, true);
}

HEDDLE_CUDA_RUNG("softmax_forward", "cudnn", launch_softmax_forward)
HEDDLE_CUDA_RUNG("softmax_backward", "cudnn", launch_softmax_backward)
HEDDLE_CUDA_RUNG("log_softmax_forward", "cudnn", launch_log_softmax_forward)
HEDDLE_CUDA_RUNG("log_softmax_backward", "cudnn", launch_log_softmax_backward)
