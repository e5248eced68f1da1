// Inside cuDNN: descriptors, and one piece of work for every function. Tensors are read into dense arrays of doubles in
// the order of their sizes, so that what is computed knows nothing of types, strides and layouts. Where each element of
// the result needs that element alone, only a part of the tensors is read at a time.
#pragma once

#include "api/blas/blas.h"
#include "cudnn.h"

struct cudnnContext {
    cudaStream_t stream;
};

typedef struct dnn_tensor {
    cudnnDataType_t type;
    int count; // of dimensions
    int size[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX];
} dnn_tensor;

struct cudnnTensorStruct {
    dnn_tensor tensor;
};

struct cudnnFilterStruct {
    dnn_tensor tensor;
    cudnnTensorFormat_t format;
};

// Height first, then width.
struct cudnnConvolutionStruct {
    int count, padding[2], stride[2], dilation[2], groups;
    cudnnConvolutionMode_t mode;
    cudnnMathType_t math;
};

struct cudnnPoolingStruct {
    cudnnPoolingMode_t mode;
    int window[2], padding[2], stride[2];
};

struct cudnnActivationStruct {
    cudnnActivationMode_t mode;
    double coefficient;
};

struct cudnnOpTensorStruct {
    cudnnOpTensorOp_t op;
};

struct cudnnReduceTensorStruct {
    cudnnReduceTensorOp_t op;
};

typedef struct dnn_operand {
    const char *name;
    dnn_tensor tensor;
    void *data;     // NULL: not given
    double *dense;  // while the work runs
    bool kept;      // an output that is read, too, whatever beta is
    bool parameter; // an output scaled by the second pair of factors
} dnn_operand;

enum { DNN_MOST_OPERANDS = 6 };

typedef struct dnn_work {
    sim_blas_call call;
    void (*compute)(const struct dnn_work *work); // from in[].dense to out[].dense
    // One element of the result from those at its place in the inputs, which are of its size. Given instead of compute.
    double (*element)(const struct dnn_work *work, size_t at);
    dnn_operand in[DNN_MOST_OPERANDS], out[DNN_MOST_OPERANDS];
    double alpha, beta;         // out = alpha computed + beta out
    double alpha_two, beta_two; // of parameters; also the factor of a second input
    struct cudnnConvolutionStruct convolution;
    struct cudnnPoolingStruct pooling;
    struct cudnnActivationStruct activation;
    int mode, algorithm;
    double epsilon, factor;
    void *workspace;
    size_t workspace_bytes;
} dnn_work;

// A call that cudnnBackendExecute makes is the user's call of that.
#define DNN_CALL(name)       sim_dnn_call(SIM_BLAS_CALL("cudnn" name))
#define DNN_WRONG(call, ...) (sim_library_wrong(call, "CUDNN_STATUS_BAD_PARAM", __VA_ARGS__), CUDNN_STATUS_BAD_PARAM)

// graph.c
sim_blas_call sim_dnn_call(sim_blas_call call);

// work.c
cudaDataType sim_dnn_type(cudnnDataType_t type);
size_t sim_dnn_elements(const dnn_tensor *tensor);
size_t sim_dnn_bytes(const dnn_tensor *tensor);                    // from the first element to the last
bool sim_dnn_same(const dnn_tensor *one, const dnn_tensor *other); // sizes
dnn_operand sim_dnn_operand(const char *name, cudnnTensorDescriptor_t descriptor, const void *data);
dnn_operand sim_dnn_filter(const char *name, cudnnFilterDescriptor_t descriptor, const void *data);
// A factor in host memory, of the type that goes with the tensor's.
double sim_dnn_factor(sim_blas_call call, const dnn_tensor *tensor, const void *pointer);
// Whether `small` is `large` with some sizes 1, and then the element of it that goes with element `index` of `large`.
bool sim_dnn_spreads(const dnn_tensor *small, const dnn_tensor *large);
size_t sim_dnn_spread(const dnn_tensor *small, const dnn_tensor *large, size_t index);
cudnnStatus_t sim_dnn_queue(cudnnHandle_t handle, const dnn_work *work);
double sim_dnn_activate(const struct cudnnActivationStruct *activation, double x);
