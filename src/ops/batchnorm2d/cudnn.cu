// batchnorm2d by cuDNN: statistics and use in one call of its own.
//
// Limited by: memory; the input is read twice, once for the statistics and once to use them.

#include "ops/cuda/cudnn_handle.h"

#include "heddle/ops.h"

static const float one = 1, zero = 0;

// What the calls have in common: the tensor (n, c, h, w) and the channels (1, c, 1, 1).
typedef struct prepared_call {
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t tensor, channels;
} prepared_call;

static heddle_status prepare(const heddle_call *call, prepared_call *prepared)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    HEDDLE_TRY(heddle_cudnn_handle(call, &prepared->handle));
    HEDDLE_CUDA_TRY(cudnnCreateTensorDescriptor(&prepared->tensor));
    HEDDLE_CUDA_TRY(cudnnCreateTensorDescriptor(&prepared->channels));
    HEDDLE_CUDA_TRY(cudnnSetTensor4dDescriptor(prepared->tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape->n,
                                               shape->c, shape->h, shape->w));
    return HEDDLE_CUDA_CHECK(
        cudnnDeriveBNTensorDescriptor(prepared->channels, prepared->tensor, CUDNN_BATCHNORM_SPATIAL));
}

static void release(const prepared_call *prepared)
{
    if (prepared->tensor)
        cudnnDestroyTensorDescriptor(prepared->tensor);
    if (prepared->channels)
        cudnnDestroyTensorDescriptor(prepared->channels);
}

static size_t elements_of(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    return (size_t)shape->n * shape->c * shape->h * shape->w;
}

static heddle_status run_forward(const heddle_call *call, const prepared_call *prepared)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    void *running_mean = call->output[3], *running_var = call->output[4], *unwanted = NULL;
    // cuDNN keeps both running statistics or none.
    if (!running_mean != !running_var)
        HEDDLE_TRY(heddle_cuda_scratch(call, (size_t)shape->c * sizeof(float), &unwanted));
    if (unwanted && !running_mean)
        running_mean = unwanted;
    if (unwanted && !running_var)
        running_var = unwanted;
    return HEDDLE_CUDA_CHECK(cudnnBatchNormalizationForwardTraining(
        prepared->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, prepared->tensor, call->input[0], prepared->tensor,
        call->output[0], prepared->channels, call->input[1], call->input[2], shape->momentum, running_mean, running_var,
        shape->epsilon, call->output[1], call->output[2]));
}

static heddle_status run_backward(const heddle_call *call, const prepared_call *prepared)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    void *grad_input = call->output[0];
    // cuDNN always computes all three gradients.
    if (!grad_input)
        HEDDLE_TRY(heddle_cuda_scratch(call, elements_of(call) * sizeof(float), &grad_input));
    return HEDDLE_CUDA_CHECK(cudnnBatchNormalizationBackward(
        prepared->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero, prepared->tensor, call->input[0],
        prepared->tensor, call->input[4], prepared->tensor, grad_input, prepared->channels, call->input[1],
        call->output[1], call->output[2], shape->epsilon, call->input[2], call->input[3]));
}

static heddle_status run_inference(const heddle_call *call, const prepared_call *prepared)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    return HEDDLE_CUDA_CHECK(cudnnBatchNormalizationForwardInference(
        prepared->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, prepared->tensor, call->input[0], prepared->tensor,
        call->output[0], prepared->channels, call->input[1], call->input[2], call->input[3], call->input[4],
        shape->epsilon));
}

static heddle_status launch(const heddle_call *call,
                            heddle_status (*run)(const heddle_call *call, const prepared_call *prepared))
{
    prepared_call prepared = {};
    if (elements_of(call) == 0)
        return HEDDLE_OK;
    heddle_status status = prepare(call, &prepared);
    if (status == HEDDLE_OK)
        status = run(call, &prepared);
    release(&prepared);
    return status;
}

static heddle_status launch_forward(const heddle_call *call)
{
    return launch(call, run_forward);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return launch(call, run_backward);
}

static heddle_status launch_inference(const heddle_call *call)
{
    return launch(call, run_inference);
}

HEDDLE_CUDA_RUNG("batchnorm2d_forward", "cudnn", launch_forward)
HEDDLE_CUDA_RUNG("batchnorm2d_backward", "cudnn", launch_backward)
HEDDLE_CUDA_RUNG("batchnorm2d_inference", "cudnn", launch_inference)
