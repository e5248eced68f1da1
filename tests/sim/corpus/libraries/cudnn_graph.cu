// cuDNN's graph interface: convolutions with bias and relu behind them, both gradients, batch normalisation with relu,
// each against the legacy interface; an operation that is not simulated; a workspace that is too small.
#include "../corpus.h"
#include <cmath>
#include <cudnn.h>
#include <vector>

#define DONE(call) REQUIRE((call) == CUDNN_STATUS_SUCCESS)

typedef cudnnBackendDescriptor_t part;
const cudnnBackendAttributeType_t PART = CUDNN_TYPE_BACKEND_DESCRIPTOR;
const int N = 2, C = 3, H = 5, K = 4, R = 3, OUT = 5; // padding 1
const int64_t X[] = {N, C, H, H}, W[] = {K, C, R, R}, Y[] = {N, K, OUT, OUT}, CHANNELS[] = {1, K, 1, 1};

static part make(cudnnBackendDescriptorType_t type)
{
    part made;
    DONE(cudnnBackendCreateDescriptor(type, &made));
    return made;
}

template <class T>
static void set(part to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T *values, int n = 1)
{
    DONE(cudnnBackendSetAttribute(to, name, type, n, values));
}

static part tensor(int64_t number, const int64_t *dims, bool between = false, bool by_value = false)
{
    part made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t strides[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type);
    set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, 4);
    set(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides, 4);
    set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, &number);
    set(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, &between);
    set(made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, &by_value);
    DONE(cudnnBackendFinalize(made));
    return made;
}

static part convolution()
{
    part made = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    int64_t dims = 2, ones[] = {1, 1};
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    set(made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, &dims);
    set(made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, &mode);
    set(made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, ones, 2);
    set(made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, ones, 2);
    set(made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, ones, 2);
    set(made, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, ones, 2);
    DONE(cudnnBackendFinalize(made));
    return made;
}

struct attribute {
    cudnnBackendAttributeName_t name;
    part value;
};

static part operation(cudnnBackendDescriptorType_t type, const std::vector<attribute> &attributes)
{
    part made = make(type);
    for (const attribute &one : attributes)
        set(made, one.name, PART, &one.value);
    if (type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) {
        cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
        cudnnBackendNormFwdPhase_t phase = CUDNN_NORM_FWD_TRAINING;
        set(made, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, &mode);
        set(made, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, &phase);
    }
    DONE(cudnnBackendFinalize(made));
    for (const attribute &one : attributes) // the operation keeps them
        DONE(cudnnBackendDestroyDescriptor(one.value));
    return made;
}

static part pointwise(cudnnPointwiseMode_t mode, part x, part b, part y)
{
    part how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, &mode);
    DONE(cudnnBackendFinalize(how));
    std::vector<attribute> attributes = {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how},
                                         {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                                         {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}};
    if (b)
        attributes.push_back({CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b});
    return operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, attributes);
}

// The first configuration of the heuristics, as a plan.
static part plan(cudnnHandle_t handle, std::vector<part> operations, int64_t *workspace)
{
    part graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    part configuration = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), made = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    int64_t count = 0;
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, PART, operations.data(), (int)operations.size());
    DONE(cudnnBackendFinalize(graph));
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, PART, &graph);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
    DONE(cudnnBackendFinalize(heuristics));
    DONE(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, PART, 1, &count, &configuration));
    REQUIRE(count == 1);
    set(made, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &handle);
    set(made, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, PART, &configuration);
    DONE(cudnnBackendFinalize(made));
    DONE(cudnnBackendGetAttribute(made, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                                  workspace));
    for (part one : operations)
        DONE(cudnnBackendDestroyDescriptor(one));
    for (part one : {graph, heuristics, configuration})
        DONE(cudnnBackendDestroyDescriptor(one));
    return made;
}

// Tensors 1, 2, ... are at `places`.
static part pack(std::vector<void *> places, void *workspace)
{
    part made = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < places.size(); i++)
        numbers.push_back((int64_t)i + 1);
    set(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, numbers.data(), (int)numbers.size());
    set(made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, places.data(), (int)places.size());
    set(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &workspace);
    DONE(cudnnBackendFinalize(made));
    return made;
}

static void run(cudnnHandle_t handle, std::vector<part> operations, std::vector<void *> places)
{
    int64_t bytes = -1;
    part whole = plan(handle, operations, &bytes);
    char *workspace = device_zeros<char>((int)bytes + 1);
    part given = pack(places, workspace);
    DONE(cudnnBackendExecute(handle, whole, given));
    DONE(cudnnBackendDestroyDescriptor(given));
    DONE(cudnnBackendDestroyDescriptor(whole));
    CHECK(cudaFree(workspace));
}

template <int COUNT> static void same(const float *one, const float *other)
{
    float a[COUNT], b[COUNT];
    fetch(a, one);
    fetch(b, other);
    for (int i = 0; i < COUNT; i++)
        REQUIRE(std::fabs(a[i] - b[i]) < 1e-4f);
}

static cudnnTensorDescriptor_t legacy(const int64_t *dims)
{
    cudnnTensorDescriptor_t made;
    DONE(cudnnCreateTensorDescriptor(&made));
    DONE(cudnnSetTensor4dDescriptor(made, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, (int)dims[0], (int)dims[1], (int)dims[2],
                                    (int)dims[3]));
    return made;
}

static void convolutions(cudnnHandle_t handle)
{
    const int x_count = N * C * H * H, w_count = K * C * R * R, y_count = N * K * OUT * OUT;
    const float one = 1, zero = 0;
    float *x = device_ramp(x_count, -3.0f, 0.05f), *w = device_ramp(w_count, 1.0f, -0.02f);
    float *bias = device_ramp(K, -20.0f, 12.0f), *y = device_zeros<float>(y_count),
          *wanted = device_zeros<float>(y_count);
    cudnnTensorDescriptor_t x_old = legacy(X), y_old = legacy(Y), bias_old = legacy(CHANNELS);
    cudnnFilterDescriptor_t w_old;
    cudnnConvolutionDescriptor_t old;
    cudnnActivationDescriptor_t relu;
    DONE(cudnnCreateFilterDescriptor(&w_old));
    DONE(cudnnSetFilter4dDescriptor(w_old, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, K, C, R, R));
    DONE(cudnnCreateConvolutionDescriptor(&old));
    DONE(cudnnSetConvolution2dDescriptor(old, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DONE(cudnnCreateActivationDescriptor(&relu));
    DONE(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    DONE(cudnnConvolutionForward(handle, &one, x_old, x, w_old, w, old, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL,
                                 0, &zero, y_old, wanted));
    DONE(cudnnAddTensor(handle, &one, bias_old, bias, &one, y_old, wanted));
    DONE(cudnnActivationForward(handle, relu, &one, y_old, wanted, &zero, y_old, wanted));
    // The last operation first: their order does not matter.
    run(handle,
        {pointwise(CUDNN_POINTWISE_RELU_FWD, tensor(11, Y, true), NULL, tensor(4, Y)),
         operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                   {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution()},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor(1, X)},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, tensor(2, W)},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, tensor(10, Y, true)}}),
         pointwise(CUDNN_POINTWISE_ADD, tensor(10, Y, true), tensor(3, CHANNELS), tensor(11, Y, true))},
        {x, w, bias, y});
    same<y_count>(y, wanted);
    float *dx = device_zeros<float>(x_count), *dx_wanted = device_zeros<float>(x_count);
    DONE(cudnnConvolutionBackwardData(handle, &one, w_old, w, y_old, y, old, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, NULL, 0,
                                      &zero, x_old, dx_wanted));
    run(handle,
        {operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                   {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, convolution()},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, tensor(1, X)},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, tensor(2, W)},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, tensor(3, Y)}})},
        {dx, w, y});
    same<x_count>(dx, dx_wanted);
    float *dw = device_zeros<float>(w_count), *dw_wanted = device_zeros<float>(w_count);
    DONE(cudnnConvolutionBackwardFilter(handle, &one, x_old, x, y_old, y, old, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
                                        NULL, 0, &zero, w_old, dw_wanted));
    run(handle,
        {operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                   {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, convolution()},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, tensor(1, X)},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, tensor(2, W)},
                    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, tensor(3, Y)}})},
        {x, dw, y});
    same<w_count>(dw, dw_wanted);
    for (float *array : {x, w, bias, y, wanted, dx, dx_wanted, dw, dw_wanted})
        CHECK(cudaFree(array));
}

static void normalisation(cudnnHandle_t handle)
{
    const int count = N * K * OUT * OUT;
    const int64_t ONES[] = {1, 1, 1, 1};
    const float one = 1, zero = 0;
    float epsilon = 1e-3f, momentum = 0.25f;
    float *x = device_ramp(count, -4.0f, 0.07f), *y = device_zeros<float>(count), *wanted = device_zeros<float>(count);
    float *gamma = device_ramp(K, 0.5f, 1.0f), *beta = device_ramp(K, 0.1f, 0.1f), *mean = device_zeros<float>(K);
    float *inverse = device_zeros<float>(K), *old_mean = device_ramp(K, 1.0f, 1.0f),
          *old_var = device_ramp(K, 2.0f, 1.0f);
    float *new_mean = device_zeros<float>(K), *new_var = device_zeros<float>(K);
    run(handle,
        {operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
                   {{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, tensor(1, Y)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, tensor(20, Y, true)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, tensor(3, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, tensor(4, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, tensor(5, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, tensor(6, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, tensor(7, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, tensor(8, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, tensor(9, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, tensor(10, CHANNELS)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, tensor(11, ONES, false, true)},
                    {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, tensor(12, ONES, false, true)}}),
         pointwise(CUDNN_POINTWISE_RELU_FWD, tensor(20, Y, true), NULL, tensor(2, Y))},
        {x, y, gamma, beta, mean, inverse, old_mean, old_var, new_mean, new_var, &epsilon, &momentum});
    cudnnTensorDescriptor_t whole = legacy(Y), channels = legacy(CHANNELS);
    cudnnActivationDescriptor_t relu;
    DONE(cudnnCreateActivationDescriptor(&relu));
    DONE(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    DONE(cudnnBatchNormalizationForwardTraining(handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, whole, x, whole, wanted,
                                                channels, gamma, beta, momentum, old_mean, old_var, epsilon, NULL,
                                                NULL));
    DONE(cudnnActivationForward(handle, relu, &one, whole, wanted, &zero, whole, wanted));
    same<count>(y, wanted);
    same<K>(new_mean, old_mean);
    same<K>(new_var, old_var);
    for (float *array : {x, y, wanted, gamma, beta, mean, inverse, old_mean, old_var, new_mean, new_var})
        CHECK(cudaFree(array));
}

int main()
{
    cudnnHandle_t handle;
    part other;
    DONE(cudnnCreate(&handle));
    convolutions(handle);
    normalisation(handle);
    REQUIRE(cudnnBackendCreateDescriptor(CUDNN_BACKEND_MATMUL_DESCRIPTOR, &other) == // expect: unsupported(warning)
            CUDNN_STATUS_NOT_SUPPORTED);
    int64_t bytes;
    const int count = N * K * OUT * OUT;
    float *x = device_ramp(count, -4.0f, 0.1f), *y = device_zeros<float>(count), *small = device_zeros<float>(8);
    part whole = plan(handle,
                      {pointwise(CUDNN_POINTWISE_RELU_FWD, tensor(1, Y), NULL, tensor(9, Y, true)),
                       pointwise(CUDNN_POINTWISE_RELU_FWD, tensor(9, Y, true), NULL, tensor(2, Y))},
                      &bytes);
    REQUIRE(bytes >= count * (int64_t)sizeof(float));
    DONE(cudnnBackendExecute(handle, whole, pack({x, y}, small))); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    return 0;
}
