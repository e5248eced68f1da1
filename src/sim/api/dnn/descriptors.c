// cuDNN: the handle, statuses in words, and the descriptors of tensors, filters and operations.
#include <stdio.h>
#include <stdlib.h>

#include "api/dnn/dnn.h"
#include "sim/runtime_api.h"

size_t cudnnGetVersion(void)
{
    return CUDNN_VERSION;
}

size_t cudnnGetCudartVersion(void)
{
    return CUDART_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
#define NAMED(name)                                                                                                    \
    case name: return #name
    switch (status) {
        NAMED(CUDNN_STATUS_SUCCESS);
        NAMED(CUDNN_STATUS_NOT_INITIALIZED);
        NAMED(CUDNN_STATUS_BAD_PARAM);
        NAMED(CUDNN_STATUS_NOT_SUPPORTED);
        NAMED(CUDNN_STATUS_INTERNAL_ERROR);
        NAMED(CUDNN_STATUS_ALLOC_FAILED);
        NAMED(CUDNN_STATUS_EXECUTION_FAILED);
    default: return "CUDNN_UNKNOWN_STATUS";
    }
}

// The finding of a failed call says more.
void cudnnGetLastErrorString(char *message, size_t size)
{
    snprintf(message, size, "%s", "");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    if (!handle)
        return CUDNN_STATUS_BAD_PARAM;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    cudaDeviceSynchronize(); // as cuDNN
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    if (!handle)
        return CUDNN_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream)
{
    if (!handle)
        return CUDNN_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}

#define DESCRIPTOR(Name)                                                                                               \
    cudnnStatus_t cudnnCreate##Name##Descriptor(cudnn##Name##Descriptor_t *descriptor)                                 \
    {                                                                                                                  \
        *descriptor = calloc(1, sizeof **descriptor);                                                                  \
        return *descriptor ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;                                         \
    }                                                                                                                  \
    cudnnStatus_t cudnnDestroy##Name##Descriptor(cudnn##Name##Descriptor_t descriptor)                                 \
    {                                                                                                                  \
        free(descriptor);                                                                                              \
        return CUDNN_STATUS_SUCCESS;                                                                                   \
    }
DESCRIPTOR(Tensor)
DESCRIPTOR(Filter)
DESCRIPTOR(Convolution)
DESCRIPTOR(Pooling)
DESCRIPTOR(Activation)
DESCRIPTOR(OpTensor)
DESCRIPTOR(ReduceTensor)

// --- tensors and filters --------------------------------------------------------------------------------------------

static cudnnStatus_t set_tensor(sim_blas_call call, dnn_tensor *tensor, cudnnDataType_t type, int count,
                                const int *sizes, const int *strides)
{
    if (!tensor || count < 1 || count > CUDNN_DIM_MAX)
        return DNN_WRONG(call, "no descriptor, or %d dimensions", count);
    dnn_tensor made = {.type = type, .count = count};
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 1 || strides[i] < 0)
            return DNN_WRONG(call, "dimension %d has size %d and stride %d", i, sizes[i], strides[i]);
        made.size[i] = sizes[i];
        made.stride[i] = strides[i];
    }
    *tensor = made;
    return CUDNN_STATUS_SUCCESS;
}

// Packed: the last dimension next to each other, or the channels, which are the second dimension.
static cudnnStatus_t set_packed(sim_blas_call call, dnn_tensor *tensor, cudnnTensorFormat_t format,
                                cudnnDataType_t type, int count, const int *sizes)
{
    int strides[CUDNN_DIM_MAX] = {0}, step = 1;
    if (format == CUDNN_TENSOR_NCHW_VECT_C)
        return CUDNN_STATUS_NOT_SUPPORTED;
    if (count > CUDNN_DIM_MAX)
        return DNN_WRONG(call, "%d dimensions", count);
    bool last = format == CUDNN_TENSOR_NHWC && count > 1;
    if (last) {
        strides[1] = 1;
        step = sizes[1];
    }
    for (int i = count - 1; i >= 0; i--)
        if (!last || i != 1) {
            strides[i] = step;
            step *= sizes[i];
        }
    return set_tensor(call, tensor, type, count, sizes, strides);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w)
{
    return set_packed(DNN_CALL("SetTensor4dDescriptor"), tensor ? &tensor->tensor : NULL, format, type, 4,
                      (const int[]){n, c, h, w});
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n, int c, int h,
                                           int w, int n_stride, int c_stride, int h_stride, int w_stride)
{
    return set_tensor(DNN_CALL("SetTensor4dDescriptorEx"), tensor ? &tensor->tensor : NULL, type, 4,
                      (const int[]){n, c, h, w}, (const int[]){n_stride, c_stride, h_stride, w_stride});
}

cudnnStatus_t cudnnGetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t *type, int *n, int *c, int *h,
                                         int *w, int *n_stride, int *c_stride, int *h_stride, int *w_stride)
{
    const dnn_tensor *t = &tensor->tensor;
    *type = t->type;
    *n = t->size[0], *c = t->size[1], *h = t->size[2], *w = t->size[3];
    *n_stride = t->stride[0], *c_stride = t->stride[1], *h_stride = t->stride[2], *w_stride = t->stride[3];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int count,
                                         const int sizes[], const int strides[])
{
    return set_tensor(DNN_CALL("SetTensorNdDescriptor"), tensor ? &tensor->tensor : NULL, type, count, sizes, strides);
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                           cudnnDataType_t type, int count, const int sizes[])
{
    return set_packed(DNN_CALL("SetTensorNdDescriptorEx"), tensor ? &tensor->tensor : NULL, format, type, count, sizes);
}

cudnnStatus_t cudnnGetTensorSizeInBytes(cudnnTensorDescriptor_t tensor, size_t *bytes)
{
    *bytes = sim_dnn_bytes(&tensor->tensor);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int count, const int sizes[])
{
    if (filter)
        filter->format = format;
    return set_packed(DNN_CALL("SetFilterNdDescriptor"), filter ? &filter->tensor : NULL, format, type, count, sizes);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    if (filter)
        filter->format = format;
    return set_packed(DNN_CALL("SetFilter4dDescriptor"), filter ? &filter->tensor : NULL, format, type, 4,
                      (const int[]){k, c, h, w});
}

cudnnStatus_t cudnnGetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t *type,
                                         cudnnTensorFormat_t *format, int *k, int *c, int *h, int *w)
{
    const dnn_tensor *t = &filter->tensor;
    *type = t->type;
    *format = filter->format;
    *k = t->size[0], *c = t->size[1], *h = t->size[2], *w = t->size[3];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(cudnnFilterDescriptor_t filter, size_t *bytes)
{
    *bytes = sim_dnn_bytes(&filter->tensor);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derived, cudnnTensorDescriptor_t x,
                                            cudnnBatchNormMode_t mode)
{
    dnn_tensor sizes = x->tensor;
    sizes.size[0] = 1;
    for (int i = 2; mode != CUDNN_BATCHNORM_PER_ACTIVATION && i < sizes.count; i++)
        sizes.size[i] = 1;
    cudnnDataType_t type = sizes.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    return set_packed(DNN_CALL("DeriveBNTensorDescriptor"), derived ? &derived->tensor : NULL, CUDNN_TENSOR_NCHW, type,
                      sizes.count, sizes.size);
}

// --- operations -----------------------------------------------------------------------------------------------------

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int count, const int padding[],
                                              const int strides[], const int dilations[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute)
{
    (void)compute;
    sim_blas_call call = DNN_CALL("SetConvolutionNdDescriptor");
    if (count != 2)
        return CUDNN_STATUS_NOT_SUPPORTED;
    if (!convolution)
        return DNN_WRONG(call, "the descriptor is NULL");
    convolution->count = count;
    convolution->mode = mode;
    convolution->groups = convolution->groups ? convolution->groups : 1;
    for (int i = 0; i < count; i++) {
        if (padding[i] < 0 || strides[i] < 1 || dilations[i] < 1)
            return DNN_WRONG(call, "padding %d, stride %d, dilation %d", padding[i], strides[i], dilations[i]);
        convolution->padding[i] = padding[i];
        convolution->stride[i] = strides[i];
        convolution->dilation[i] = dilations[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h, int pad_w,
                                              int stride_h, int stride_w, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t compute)
{
    return cudnnSetConvolutionNdDescriptor(convolution, 2, (const int[]){pad_h, pad_w},
                                           (const int[]){stride_h, stride_w}, (const int[]){dilation_h, dilation_w},
                                           mode, compute);
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math)
{
    convolution->math = math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups)
{
    if (groups < 1)
        return DNN_WRONG(DNN_CALL("SetConvolutionGroupCount"), "%d groups", groups);
    convolution->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int *groups)
{
    *groups = convolution->groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t pooling, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t nan, int window_h, int window_w, int pad_h, int pad_w,
                                          int stride_h, int stride_w)
{
    (void)nan;
    if (!pooling || window_h < 1 || window_w < 1 || pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 ||
        pad_h >= window_h || pad_w >= window_w)
        return DNN_WRONG(DNN_CALL("SetPooling2dDescriptor"),
                         "windows of %d by %d, padding %d and %d, strides %d and %d", window_h, window_w, pad_h, pad_w,
                         stride_h, stride_w);
    *pooling = (struct cudnnPoolingStruct){mode, {window_h, window_w}, {pad_h, pad_w}, {stride_h, stride_w}};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(cudnnPoolingDescriptor_t pooling, cudnnTensorDescriptor_t x, int *n,
                                                int *c, int *h, int *w)
{
    const dnn_tensor *t = &x->tensor;
    *n = t->size[0];
    *c = t->size[1];
    *h = 1 + (t->size[2] + 2 * pooling->padding[0] - pooling->window[0]) / pooling->stride[0];
    *w = 1 + (t->size[3] + 2 * pooling->padding[1] - pooling->window[1]) / pooling->stride[1];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activation, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t nan, double coefficient)
{
    (void)nan;
    *activation = (struct cudnnActivationStruct){mode, coefficient};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t operation, cudnnOpTensorOp_t op,
                                         cudnnDataType_t compute, cudnnNanPropagation_t nan)
{
    (void)compute, (void)nan;
    operation->op = op;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduction, cudnnReduceTensorOp_t op,
                                             cudnnDataType_t compute, cudnnNanPropagation_t nan,
                                             cudnnReduceTensorIndices_t indices, cudnnIndicesType_t index_type)
{
    (void)compute, (void)nan, (void)index_type;
    if (indices != CUDNN_REDUCE_TENSOR_NO_INDICES)
        return CUDNN_STATUS_NOT_SUPPORTED;
    reduction->op = op;
    return CUDNN_STATUS_SUCCESS;
}
