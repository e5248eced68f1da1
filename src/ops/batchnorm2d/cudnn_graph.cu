// batchnorm2d, and batchnorm2d_relu, by cuDNN's graph interface: one operation that computes the statistics, normalises
// and updates the running ones, and relu as a second if requested. cuDNN compiles an engine for the two at run time,
// once per shape; the plan is cached. If it has none, its legacy interface does the same with one call each.
//
// Limited by: memory bandwidth, and for row-major images, as here, by converting them to the layout that the engine
// needs.

#include "ops/cuda/cudnn_graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ops.h"

// Names of the tensors in the graph, which are also their places in `operand_list`.
enum {
    INPUT = 1,
    GAMMA,
    BETA,
    OLD_MEAN, // running statistics, as they are read
    OLD_VAR,
    OUTPUT,
    MEAN,
    INVERSE_STD,
    NEW_MEAN, // and written
    NEW_VAR,
    OPERANDS,
    EPSILON = OPERANDS, // by value
    MOMENTUM,
    TENSORS,
};
enum { VECTOR_BYTES = 16 }; // what engines load at once: unaligned operands are copied

typedef struct plan_key {
    heddle_batchnorm2d_shape shape;
    int device;
    bool relu;
} plan_key;

typedef struct kept_plan {
    plan_key key;
    heddle_cudnn_graph graph;
    bool usable; // false: cuDNN has no engine for it, and was asked once
    struct kept_plan *next;
} kept_plan;

static kept_plan *plans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// --- the graph -------------------------------------------------------------------------------------------------------

static heddle_status describe_value(heddle_cudnn_graph *graph, int64_t number, cudnnBackendDescriptor_t *tensor)
{
    const int64_t ones[] = {1, 1, 1, 1}, alignment = sizeof(float);
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const bool by_value = true;
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, ones));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, ones));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value));
    return heddle_cudnn_finalize(*tensor);
}

static heddle_status add_norm(heddle_cudnn_graph *graph, const cudnnBackendDescriptor_t tensors[TENSORS],
                              cudnnBackendDescriptor_t output)
{
    static const struct {
        cudnnBackendAttributeName_t name;
        int tensor;
    } attributes[] = {
        {CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, INPUT},
        {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, MEAN},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, INVERSE_STD},
        {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, GAMMA},
        {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, BETA},
        {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, EPSILON},
        {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, MOMENTUM},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, OLD_MEAN},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, OLD_VAR},
        {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, NEW_MEAN},
        {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, NEW_VAR},
    };
    const cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
    const cudnnBackendNormFwdPhase_t phase = CUDNN_NORM_FWD_TRAINING;
    const cudnnBackendAttributeType_t descriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
    cudnnBackendDescriptor_t operation;
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, &operation));
    HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode));
    HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, 1, &phase));
    for (int i = 0; i < (int)(sizeof attributes / sizeof *attributes); i++)
        HEDDLE_TRY(heddle_cudnn_set(operation, attributes[i].name, descriptor, 1, &tensors[attributes[i].tensor]));
    HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, descriptor, 1, &output));
    return heddle_cudnn_operation(graph, operation);
}

static heddle_status build(heddle_cudnn_graph *graph, const plan_key *key)
{
    const int64_t whole[] = {key->shape.n, key->shape.c, key->shape.h, key->shape.w};
    const int64_t channels[] = {1, key->shape.c, 1, 1};
    cudnnBackendDescriptor_t tensors[TENSORS] = {}, normalised;
    for (int i = INPUT; i < OPERANDS; i++)
        HEDDLE_TRY(
            heddle_cudnn_tensor(graph, i, i == INPUT || i == OUTPUT ? whole : channels, VECTOR_BYTES, &tensors[i]));
    HEDDLE_TRY(describe_value(graph, EPSILON, &tensors[EPSILON]));
    HEDDLE_TRY(describe_value(graph, MOMENTUM, &tensors[MOMENTUM]));
    if (!key->relu)
        return add_norm(graph, tensors, tensors[OUTPUT]);
    HEDDLE_TRY(heddle_cudnn_tensor(graph, 0, whole, VECTOR_BYTES, &normalised));
    HEDDLE_TRY(add_norm(graph, tensors, normalised));
    return heddle_cudnn_pointwise(graph, CUDNN_POINTWISE_RELU_FWD, normalised, NULL, tensors[OUTPUT]);
}

static kept_plan *make(const plan_key *key, cudnnHandle_t handle)
{
    kept_plan *made = (kept_plan *)calloc(1, sizeof *made);
    if (!made)
        return NULL;
    memcpy(&made->key, key, sizeof *key);
    // Compiling loads code, which a capture of this thread would not allow.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    made->usable = build(&made->graph, key) == HEDDLE_OK && heddle_cudnn_plan(&made->graph, handle, false) == HEDDLE_OK;
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (!made->usable)
        heddle_cudnn_destroy(&made->graph);
    made->next = plans;
    plans = made;
    return made;
}

static plan_key key_of(const heddle_call *call, bool relu)
{
    plan_key key;
    memset(&key, 0, sizeof key); // compared byte for byte
    key.shape = *(const heddle_batchnorm2d_shape *)call->shape;
    key.shape.epsilon = key.shape.momentum = 0; // they come with each call
    key.device = heddle_cuda_device_of(call);
    key.relu = relu;
    return key;
}

// NULL if cuDNN has no engine for it.
static const heddle_cudnn_graph *find(const heddle_call *call, bool relu, cudnnHandle_t handle)
{
    plan_key key = key_of(call, relu);
    pthread_mutex_lock(&lock);
    kept_plan *one = plans;
    while (one && memcmp(&one->key, &key, sizeof key) != 0)
        one = one->next;
    if (!one)
        one = make(&key, handle);
    pthread_mutex_unlock(&lock);
    return one && one->usable ? &one->graph : NULL;
}

// --- running ---------------------------------------------------------------------------------------------------------

// Inputs and outputs, at aligned places after `reserved` bytes of scratch memory. Running statistics that the call
// omits are in its workspace.
static heddle_status place_operands(const heddle_call *call, size_t reserved, heddle_cudnn_operand of[OPERANDS])
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    size_t channels = (size_t)shape->c * sizeof(float), whole = channels * shape->n * shape->h * shape->w;
    float *spare = (float *)call->workspace;
    void *mean = call->output[3] ? call->output[3] : spare, *var = call->output[4] ? call->output[4] : spare + shape->c;
    const void *const places[OPERANDS] = {NULL, call->input[0],  call->input[1],  call->input[2],  mean,
                                          var,  call->output[0], call->output[1], call->output[2], mean,
                                          var};
    void *nothing;
    for (int i = INPUT; i < OPERANDS; i++)
        of[i] = heddle_cudnn_operand{places[i], i == INPUT || i == OUTPUT ? whole : channels, i >= OUTPUT, NULL};
    return heddle_cudnn_align(call, reserved, of + INPUT, OPERANDS - INPUT, &nothing);
}

static heddle_status run_graph(const heddle_call *call, const heddle_cudnn_graph *graph, cudnnHandle_t handle)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    heddle_cudnn_operand of[OPERANDS];
    float epsilon = shape->epsilon, momentum = shape->momentum;
    int64_t numbers[TENSORS];
    void *places[TENSORS];
    HEDDLE_TRY(place_operands(call, (size_t)graph->workspace, of));
    for (int i = INPUT; i < OPERANDS; i++)
        places[i] = of[i].used;
    places[EPSILON] = &epsilon;
    places[MOMENTUM] = &momentum;
    for (int i = INPUT; i < TENSORS; i++)
        numbers[i] = i;
    HEDDLE_TRY(heddle_cudnn_run(graph, call, handle, TENSORS - INPUT, numbers + INPUT, places + INPUT));
    return heddle_cudnn_deliver(call, of + INPUT, OPERANDS - INPUT);
}

// --- the legacy interface --------------------------------------------------------------------------------------------

typedef struct first_interface {
    cudnnTensorDescriptor_t whole, channels;
    cudnnActivationDescriptor_t relu;
} first_interface;

static heddle_status describe(first_interface *descriptors, const heddle_batchnorm2d_shape *shape)
{
    HEDDLE_CUDA_TRY(cudnnCreateTensorDescriptor(&descriptors->whole));
    HEDDLE_CUDA_TRY(cudnnCreateTensorDescriptor(&descriptors->channels));
    HEDDLE_CUDA_TRY(cudnnCreateActivationDescriptor(&descriptors->relu));
    HEDDLE_CUDA_TRY(cudnnSetTensor4dDescriptor(descriptors->whole, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape->n,
                                               shape->c, shape->h, shape->w));
    HEDDLE_CUDA_TRY(cudnnSetActivationDescriptor(descriptors->relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    return HEDDLE_CUDA_CHECK(
        cudnnDeriveBNTensorDescriptor(descriptors->channels, descriptors->whole, CUDNN_BATCHNORM_SPATIAL));
}

static void forget(first_interface *descriptors)
{
    if (descriptors->whole)
        cudnnDestroyTensorDescriptor(descriptors->whole);
    if (descriptors->channels)
        cudnnDestroyTensorDescriptor(descriptors->channels);
    if (descriptors->relu)
        cudnnDestroyActivationDescriptor(descriptors->relu);
}

static heddle_status run_calls(const heddle_call *call, cudnnHandle_t handle, const first_interface *descriptors,
                               bool relu)
{
    static const float one = 1, zero = 0;
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    heddle_cudnn_operand of[OPERANDS];
    HEDDLE_TRY(place_operands(call, 0, of));
    for (int i = 0; i < 2; i++) // it updates in place
        if (of[NEW_MEAN + i].used != of[OLD_MEAN + i].used)
            HEDDLE_CUDA_TRY(cudaMemcpyAsync(of[NEW_MEAN + i].used, of[OLD_MEAN + i].used, of[OLD_MEAN + i].bytes,
                                            cudaMemcpyDeviceToDevice, heddle_cuda_stream_of(call)));
    HEDDLE_CUDA_TRY(cudnnBatchNormalizationForwardTraining(
        handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, descriptors->whole, of[INPUT].used, descriptors->whole,
        of[OUTPUT].used, descriptors->channels, of[GAMMA].used, of[BETA].used, shape->momentum, of[NEW_MEAN].used,
        of[NEW_VAR].used, shape->epsilon, of[MEAN].used, of[INVERSE_STD].used));
    if (relu)
        HEDDLE_CUDA_TRY(cudnnActivationForward(handle, descriptors->relu, &one, descriptors->whole, of[OUTPUT].used,
                                               &zero, descriptors->whole, of[OUTPUT].used));
    return heddle_cudnn_deliver(call, of + INPUT, OPERANDS - INPUT);
}

static heddle_status run_first_interface(const heddle_call *call, cudnnHandle_t handle, bool relu)
{
    first_interface descriptors = {};
    heddle_status status = describe(&descriptors, (const heddle_batchnorm2d_shape *)call->shape);
    if (status == HEDDLE_OK)
        status = run_calls(call, handle, &descriptors, relu);
    forget(&descriptors);
    return status;
}

// --- the launchers ---------------------------------------------------------------------------------------------------

static heddle_status forward(const heddle_call *call, bool relu)
{
    cudnnHandle_t handle;
    if (((const heddle_batchnorm2d_shape *)call->shape)->c == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    const heddle_cudnn_graph *graph = find(call, relu, handle);
    return graph ? run_graph(call, graph, handle) : run_first_interface(call, handle, relu);
}

static heddle_status list(const heddle_call *call, bool relu)
{
    heddle_cudnn_graph graph = {};
    plan_key key = key_of(call, relu);
    cudnnHandle_t handle;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    heddle_status status = build(&graph, &key);
    if (status == HEDDLE_OK)
        status = heddle_cudnn_list(&graph, handle, (heddle_engine_list *)call->output[0]);
    heddle_cudnn_destroy(&graph);
    return status;
}

static heddle_status launch_forward(const heddle_call *call)
{
    return forward(call, false);
}

static heddle_status launch_relu(const heddle_call *call)
{
    return forward(call, true);
}

static heddle_status list_forward(const heddle_call *call)
{
    return list(call, false);
}

static heddle_status list_relu(const heddle_call *call)
{
    return list(call, true);
}

HEDDLE_CUDA_RUNG("batchnorm2d_forward", "cudnn_graph", launch_forward)
HEDDLE_CUDA_RUNG("batchnorm2d_relu", "cudnn_graph", launch_relu)
HEDDLE_CUDA_ENGINES("batchnorm2d_forward", list_forward)
HEDDLE_CUDA_ENGINES("batchnorm2d_relu", list_relu)
