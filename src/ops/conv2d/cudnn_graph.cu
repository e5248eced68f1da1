// conv2d by cuDNN's graph interface: the convolution, with the bias added in the epilogue if cuDNN has an engine for
// both, planned by its heuristics and cached per shape. `cudnn_graph` multiplies in float32; `cudnn_graph_tf32` uses
// tensor cores with 10 bits of mantissa. Nothing is timed, so every run uses the same engines. For conv2d_bias_relu the
// graph has relu as one more operation; if cuDNN has no engine for all of it, relu is a separate call.
//
// Limited by: the float32 units, or memory bandwidth if channels are few; in tf32 by converting (n, c, h, w) to the
// layout that tensor cores need and back.

#include "ops/cuda/cudnn_graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ops.h"

typedef enum direction {
    FORWARD,
    FORWARD_BIAS,
    FORWARD_RELU,
    FORWARD_BIAS_RELU,
    BACKWARD_DATA,
    BACKWARD_WEIGHT
} direction;

// Names of the tensors in the graphs.
enum { INPUT = 1, WEIGHT, OUTPUT, BIAS };
enum { VECTOR_BYTES = 16 }; // what engines load at once if addresses are aligned

typedef struct plan_key {
    heddle_conv2d_shape shape;
    direction way;
    int device, alignment;
    bool tensor_cores;
} plan_key;

typedef struct kept_plan {
    plan_key key;
    heddle_cudnn_graph graph;
    bool usable; // false: cuDNN has no engine for it, and was asked once
    struct kept_plan *next;
} kept_plan;

static kept_plan *plans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int out_extent(const heddle_conv2d_shape *shape, int extent, int taps)
{
    return (extent + 2 * shape->padding - shape->dilation * (taps - 1) - 1) / shape->stride + 1;
}

static heddle_status describe_convolution(heddle_cudnn_graph *graph, const heddle_conv2d_shape *shape,
                                          cudnnBackendDescriptor_t *convolution)
{
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t spatial = 2, padding[] = {shape->padding, shape->padding}, stride[] = {shape->stride, shape->stride};
    int64_t dilation[] = {shape->dilation, shape->dilation};
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, convolution));
    cudnnBackendDescriptor_t part = *convolution;
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &spatial));
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, padding));
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, padding));
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride));
    HEDDLE_TRY(heddle_cudnn_set(part, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilation));
    return heddle_cudnn_finalize(part);
}

// What cuDNN calls the parts of a convolution, by direction.
typedef struct operation_names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t alpha, beta, convolution, input, weight, output;
} operation_names;

static const operation_names forward_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
static const operation_names backward_data_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
static const operation_names backward_weight_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};

static heddle_status add_convolution(heddle_cudnn_graph *graph, const operation_names *names,
                                     cudnnBackendDescriptor_t convolution, cudnnBackendDescriptor_t input,
                                     cudnnBackendDescriptor_t weight, cudnnBackendDescriptor_t output)
{
    float alpha = 1, beta = 0;
    cudnnBackendDescriptor_t operation;
    HEDDLE_TRY(heddle_cudnn_part(graph, names->type, &operation));
    HEDDLE_TRY(heddle_cudnn_set(operation, names->alpha, CUDNN_TYPE_FLOAT, 1, &alpha));
    HEDDLE_TRY(heddle_cudnn_set(operation, names->beta, CUDNN_TYPE_FLOAT, 1, &beta));
    HEDDLE_TRY(heddle_cudnn_set(operation, names->convolution, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &convolution));
    HEDDLE_TRY(heddle_cudnn_set(operation, names->input, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &input));
    HEDDLE_TRY(heddle_cudnn_set(operation, names->weight, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &weight));
    HEDDLE_TRY(heddle_cudnn_set(operation, names->output, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &output));
    return heddle_cudnn_operation(graph, operation);
}

static bool has_bias(direction way)
{
    return way == FORWARD_BIAS || way == FORWARD_BIAS_RELU;
}

static bool has_relu(direction way)
{
    return way == FORWARD_RELU || way == FORWARD_BIAS_RELU;
}

// What follows the sums: output = relu(sums + bias), or one of the two. The tensors in between exist only in the graph.
static heddle_status add_epilogue(heddle_cudnn_graph *graph, const plan_key *key, const int64_t dims[4],
                                  cudnnBackendDescriptor_t sums, cudnnBackendDescriptor_t output)
{
    const int64_t bias_dims[] = {1, key->shape.k, 1, 1};
    cudnnBackendDescriptor_t bias, shifted = output;
    if (has_bias(key->way)) {
        HEDDLE_TRY(heddle_cudnn_tensor(graph, BIAS, bias_dims, key->alignment, &bias));
        if (has_relu(key->way))
            HEDDLE_TRY(heddle_cudnn_tensor(graph, 0, dims, VECTOR_BYTES, &shifted));
        HEDDLE_TRY(heddle_cudnn_pointwise(graph, CUDNN_POINTWISE_ADD, sums, bias, shifted));
        sums = shifted;
    }
    return has_relu(key->way) ? heddle_cudnn_pointwise(graph, CUDNN_POINTWISE_RELU_FWD, sums, NULL, output) : HEDDLE_OK;
}

static heddle_status build(heddle_cudnn_graph *graph, const plan_key *key)
{
    const heddle_conv2d_shape *shape = &key->shape;
    const int64_t input_dims[] = {shape->n, shape->c, shape->h, shape->w};
    const int64_t weight_dims[] = {shape->k, shape->c, shape->r, shape->s};
    const int64_t output_dims[] = {shape->n, shape->k, out_extent(shape, shape->h, shape->r),
                                   out_extent(shape, shape->w, shape->s)};
    const operation_names *names = key->way == BACKWARD_DATA     ? &backward_data_names
                                   : key->way == BACKWARD_WEIGHT ? &backward_weight_names
                                                                 : &forward_names;
    cudnnBackendDescriptor_t convolution, input, weight, output, sums;
    HEDDLE_TRY(describe_convolution(graph, shape, &convolution));
    HEDDLE_TRY(heddle_cudnn_tensor(graph, INPUT, input_dims, key->alignment, &input));
    HEDDLE_TRY(heddle_cudnn_tensor(graph, WEIGHT, weight_dims, key->alignment, &weight));
    HEDDLE_TRY(heddle_cudnn_tensor(graph, OUTPUT, output_dims, key->alignment, &output));
    if (!has_bias(key->way) && !has_relu(key->way))
        return add_convolution(graph, names, convolution, input, weight, output);
    HEDDLE_TRY(heddle_cudnn_tensor(graph, 0, output_dims, VECTOR_BYTES, &sums));
    HEDDLE_TRY(add_convolution(graph, names, convolution, input, weight, sums));
    return add_epilogue(graph, key, output_dims, sums, output);
}

static kept_plan *make(const plan_key *key, cudnnHandle_t handle, heddle_status *status)
{
    kept_plan *made = (kept_plan *)calloc(1, sizeof *made);
    if (!made) {
        *status = heddle_cuda_failed(HEDDLE_OUT_OF_MEMORY, "no memory", "calloc", HEDDLE_CUDA_HERE("conv2d"));
        return NULL;
    }
    memcpy(&made->key, key, sizeof *key);
    *status = build(&made->graph, key);
    if (*status == HEDDLE_OK)
        *status = heddle_cudnn_plan(&made->graph, handle, key->tensor_cores);
    made->usable = *status == HEDDLE_OK;
    if (!made->usable)
        heddle_cudnn_destroy(&made->graph);
    made->next = plans;
    plans = made;
    return made;
}

static plan_key key_of(const heddle_call *call, direction way, bool tensor_cores, int alignment)
{
    plan_key key;
    memset(&key, 0, sizeof key); // compared byte for byte
    key.shape = *(const heddle_conv2d_shape *)call->shape;
    key.way = way;
    key.device = heddle_cuda_device_of(call);
    key.alignment = alignment;
    key.tensor_cores = tensor_cores;
    return key;
}

// *found: NULL if cuDNN has no plan for it; *status says why if it was asked just now.
static heddle_status find(const plan_key *key, cudnnHandle_t handle, const heddle_cudnn_graph **found)
{
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&lock);
    kept_plan *one = plans;
    while (one && memcmp(&one->key, key, sizeof *key) != 0)
        one = one->next;
    if (!one)
        one = make(key, handle, &status);
    pthread_mutex_unlock(&lock);
    *found = one && one->usable ? &one->graph : NULL;
    if (status == HEDDLE_OK && !*found)
        status = heddle_cuda_failed(HEDDLE_UNSUPPORTED, "cuDNN names no engine for this shape", "heuristics",
                                    HEDDLE_CUDA_HERE("conv2d"));
    return status;
}

static int alignment_of(void *const *places, int count)
{
    for (int i = 0; i < count; i++)
        if ((uintptr_t)places[i] % VECTOR_BYTES != 0)
            return sizeof(float);
    return VECTOR_BYTES;
}

// Runs a convolution whose tensors have the numbers INPUT, WEIGHT, OUTPUT and, if there is one, BIAS.
static heddle_status run(const heddle_call *call, direction way, bool tensor_cores, const void *input,
                         const void *weight, const void *output, const void *bias)
{
    static const int64_t numbers[] = {INPUT, WEIGHT, OUTPUT, BIAS};
    void *const places[] = {(void *)input, (void *)weight, (void *)output, (void *)bias};
    int tensors = has_bias(way) ? 4 : 3;
    const heddle_cudnn_graph *graph;
    cudnnHandle_t handle;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    plan_key key = key_of(call, way, tensor_cores, alignment_of(places, tensors));
    HEDDLE_TRY(find(&key, handle, &graph));
    return heddle_cudnn_run(graph, call, handle, tensors, numbers, places);
}

// --- what the graphs leave to the legacy interface -------------------------------------------------------------------

// Adds the bias to the output, or sums its gradient from the output's, as a separate pass.
static heddle_status bias_pass(const heddle_call *call, cudnnHandle_t handle, cudnnTensorDescriptor_t output,
                               cudnnTensorDescriptor_t bias, bool backward)
{
    static const float one = 1, zero = 0;
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    size_t plane = (size_t)out_extent(shape, shape->h, shape->r) * out_extent(shape, shape->w, shape->s);
    size_t bias_bytes = (size_t)shape->k * sizeof(float), output_bytes = shape->n * plane * bias_bytes;
    void *nothing;
    HEDDLE_CUDA_TRY(cudnnSetTensor4dDescriptor(output, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape->n, shape->k,
                                               out_extent(shape, shape->h, shape->r),
                                               out_extent(shape, shape->w, shape->s)));
    HEDDLE_CUDA_TRY(cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, shape->k, 1, 1));
    if (!backward)
        return HEDDLE_CUDA_CHECK(cudnnAddTensor(handle, &one, bias, call->input[2], &one, output, call->output[0]));
    heddle_cudnn_operand of[] = {{call->input[1], output_bytes, false, NULL},
                                 {call->output[1], bias_bytes, true, NULL}};
    HEDDLE_TRY(heddle_cudnn_align(call, 0, of, 2, &nothing));
    HEDDLE_CUDA_TRY(cudnnConvolutionBackwardBias(handle, &one, output, of[0].used, &zero, bias, of[1].used));
    return heddle_cudnn_deliver(call, of, 2);
}

// Negative elements of the output become 0, in place.
static heddle_status relu_pass(const heddle_call *call, cudnnHandle_t handle, cudnnTensorDescriptor_t output,
                               cudnnActivationDescriptor_t relu)
{
    static const float one = 1, zero = 0;
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    int out_h = out_extent(shape, shape->h, shape->r), out_w = out_extent(shape, shape->w, shape->s);
    size_t bytes = (size_t)shape->n * shape->k * out_h * out_w * sizeof(float);
    void *nothing;
    HEDDLE_CUDA_TRY(
        cudnnSetTensor4dDescriptor(output, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape->n, shape->k, out_h, out_w));
    HEDDLE_CUDA_TRY(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    heddle_cudnn_operand of[] = {{call->output[0], bytes, false, NULL}, {call->output[0], bytes, true, NULL}};
    HEDDLE_TRY(heddle_cudnn_align(call, 0, of, 2, &nothing));
    HEDDLE_CUDA_TRY(cudnnActivationForward(handle, relu, &one, output, of[0].used, &zero, output, of[1].used));
    return heddle_cudnn_deliver(call, of, 2);
}

static heddle_status run_relu(const heddle_call *call)
{
    cudnnTensorDescriptor_t output = NULL;
    cudnnActivationDescriptor_t relu = NULL;
    cudnnHandle_t handle;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    heddle_status status = HEDDLE_CUDA_CHECK(cudnnCreateTensorDescriptor(&output));
    if (status == HEDDLE_OK)
        status = HEDDLE_CUDA_CHECK(cudnnCreateActivationDescriptor(&relu));
    if (status == HEDDLE_OK)
        status = relu_pass(call, handle, output, relu);
    if (output)
        cudnnDestroyTensorDescriptor(output);
    if (relu)
        cudnnDestroyActivationDescriptor(relu);
    return status;
}

static heddle_status run_bias(const heddle_call *call, bool backward)
{
    cudnnTensorDescriptor_t output = NULL, bias = NULL;
    cudnnHandle_t handle;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    heddle_status status = HEDDLE_CUDA_CHECK(cudnnCreateTensorDescriptor(&output));
    if (status == HEDDLE_OK)
        status = HEDDLE_CUDA_CHECK(cudnnCreateTensorDescriptor(&bias));
    if (status == HEDDLE_OK)
        status = bias_pass(call, handle, output, bias, backward);
    if (output)
        cudnnDestroyTensorDescriptor(output);
    if (bias)
        cudnnDestroyTensorDescriptor(bias);
    return status;
}

// --- the launchers ---------------------------------------------------------------------------------------------------

static heddle_status forward(const heddle_call *call, bool tensor_cores)
{
    const void *input = call->input[0], *weight = call->input[1], *bias = call->input[2], *output = call->output[0];
    if (((const heddle_conv2d_shape *)call->shape)->n == 0)
        return HEDDLE_OK;
    if (bias && run(call, FORWARD_BIAS, tensor_cores, input, weight, output, bias) == HEDDLE_OK)
        return HEDDLE_OK;
    HEDDLE_TRY(run(call, FORWARD, tensor_cores, input, weight, output, NULL));
    return bias ? run_bias(call, false) : HEDDLE_OK;
}

static heddle_status bias_relu(const heddle_call *call, bool tensor_cores)
{
    const void *input = call->input[0], *weight = call->input[1], *bias = call->input[2], *output = call->output[0];
    direction way = bias ? FORWARD_BIAS_RELU : FORWARD_RELU;
    if (((const heddle_conv2d_shape *)call->shape)->n == 0)
        return HEDDLE_OK;
    if (run(call, way, tensor_cores, input, weight, output, bias) == HEDDLE_OK)
        return HEDDLE_OK;
    HEDDLE_TRY(forward(call, tensor_cores));
    return run_relu(call);
}

static heddle_status backward_data(const heddle_call *call, bool tensor_cores)
{
    if (((const heddle_conv2d_shape *)call->shape)->n == 0)
        return HEDDLE_OK;
    return run(call, BACKWARD_DATA, tensor_cores, call->output[0], call->input[0], call->input[1], NULL);
}

// The gradients for zero images.
static heddle_status clear_gradients(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    size_t weights = (size_t)shape->k * shape->c * shape->r * shape->s;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    HEDDLE_CUDA_TRY(cudaMemsetAsync(call->output[0], 0, weights * sizeof(float), stream));
    if (call->output[1])
        HEDDLE_CUDA_TRY(cudaMemsetAsync(call->output[1], 0, (size_t)shape->k * sizeof(float), stream));
    return HEDDLE_OK;
}

static heddle_status backward_weight(const heddle_call *call, bool tensor_cores)
{
    if (((const heddle_conv2d_shape *)call->shape)->n == 0)
        return clear_gradients(call);
    HEDDLE_TRY(run(call, BACKWARD_WEIGHT, tensor_cores, call->input[0], call->output[0], call->input[1], NULL));
    return call->output[1] ? run_bias(call, true) : HEDDLE_OK;
}

// --- registration ----------------------------------------------------------------------------------------------------

static heddle_status list(const heddle_call *call, direction way)
{
    heddle_cudnn_graph graph = {};
    plan_key key = key_of(call, way, false, VECTOR_BYTES);
    cudnnHandle_t handle;
    HEDDLE_TRY(heddle_cudnn_handle(call, &handle));
    heddle_status status = build(&graph, &key);
    if (status == HEDDLE_OK)
        status = heddle_cudnn_list(&graph, handle, (heddle_engine_list *)call->output[0]);
    heddle_cudnn_destroy(&graph);
    return status;
}

#define LIST(operator_name, way)                                                                                       \
    static heddle_status list_##way(const heddle_call *call)                                                           \
    {                                                                                                                  \
        return list(call, way);                                                                                        \
    }                                                                                                                  \
    HEDDLE_CUDA_ENGINES(operator_name, list_##way)

#define BOTH(operator_name, function)                                                                                  \
    static heddle_status launch_##function(const heddle_call *call)                                                    \
    {                                                                                                                  \
        return function(call, false);                                                                                  \
    }                                                                                                                  \
    static heddle_status launch_##function##_tf32(const heddle_call *call)                                             \
    {                                                                                                                  \
        return function(call, true);                                                                                   \
    }                                                                                                                  \
    HEDDLE_CUDA_RUNG(operator_name, "cudnn_graph", launch_##function)                                                  \
    HEDDLE_CUDA_RUNG(operator_name, "cudnn_graph_tf32", launch_##function##_tf32)

BOTH("conv2d_forward", forward)
BOTH("conv2d_backward_data", backward_data)
BOTH("conv2d_backward_weight", backward_weight)
BOTH("conv2d_bias_relu", bias_relu)

LIST("conv2d_forward", FORWARD_BIAS)
LIST("conv2d_backward_data", BACKWARD_DATA)
LIST("conv2d_backward_weight", BACKWARD_WEIGHT)
LIST("conv2d_bias_relu", FORWARD_BIAS_RELU)
