// softmax and log_softmax by cuDNN: its accurate algorithm, which takes a row's largest element away first, as the own
// rungs do.
//
// Limited by: memory.

#include "ops/cuda/cudnn_handle.h"

#include "heddle/ops.h"

// A row is a sample of `cols` channels. A descriptor a call: making one costs the host nothing beside a launch.
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

static heddle_status forward(const heddle_call *call, cudnnSoftmaxAlgorithm_t algorithm)
{
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t rows;
    if (is_empty(call))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    HEDDLE_TRY(describe(call, &rows));
    heddle_status status = HEDDLE_CUDA_CHECK(cudnnSoftmaxForward(handle, algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
                                                                 rows, call->input[0], &zero, rows, call->output[0]));
    cudnnDestroyTensorDescriptor(rows);
    return status;
}

static heddle_status backward(const heddle_call *call, cudnnSoftmaxAlgorithm_t algorithm)
{
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t rows;
    const void *output = call->input[0], *grad_output = call->input[1];
    if (is_empty(call))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    HEDDLE_TRY(describe(call, &rows));
    heddle_status status =
        HEDDLE_CUDA_CHECK(cudnnSoftmaxBackward(handle, algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &one, rows, output, rows,
                                               grad_output, &zero, rows, call->output[0]));
    cudnnDestroyTensorDescriptor(rows);
    return status;
}

static heddle_status launch_softmax_forward(const heddle_call *call)
{
    return forward(call, CUDNN_SOFTMAX_ACCURATE);
}

static heddle_status launch_softmax_backward(const heddle_call *call)
{
    return backward(call, CUDNN_SOFTMAX_ACCURATE);
}

static heddle_status launch_log_softmax_forward(const heddle_call *call)
{
    return forward(call, CUDNN_SOFTMAX_LOG);
}

static heddle_status launch_log_softmax_backward(const heddle_call *call)
{
    return backward(call, CUDNN_SOFTMAX_LOG);
}

HEDDLE_CUDA_RUNG("softmax_forward", "cudnn", launch_softmax_forward)
HEDDLE_CUDA_RUNG("softmax_backward", "cudnn", launch_softmax_backward)
HEDDLE_CUDA_RUNG("log_softmax_forward", "cudnn", launch_log_softmax_forward)
HEDDLE_CUDA_RUNG("log_softmax_backward", "cudnn", launch_log_softmax_backward)
