// cuDNN's pooling, softmax, activations, batch normalisation and arithmetic with tensors, on numbers that are known.
#include "../corpus.h"
#include <cmath>
#include <cudnn.h>
#include <sys/resource.h>

#define DONE(call) REQUIRE((call) == CUDNN_STATUS_SUCCESS)

static const float one = 1, zero = 0;

static bool close(double got, double wanted)
{
    return std::fabs(got - wanted) < 1e-4;
}

static cudnnTensorDescriptor_t tensor(int n, int c, int h, int w)
{
    cudnnTensorDescriptor_t made;
    DONE(cudnnCreateTensorDescriptor(&made));
    DONE(cudnnSetTensor4dDescriptor(made, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
    return made;
}

static void pooling(cudnnHandle_t handle)
{
    float *x = device_ramp<float>(16, 0, 1), *y = device_zeros<float>(4), *dx = device_zeros<float>(16), got[4],
          back[16];
    cudnnTensorDescriptor_t in = tensor(1, 1, 4, 4), out = tensor(1, 1, 2, 2);
    cudnnPoolingDescriptor_t windows;
    int n, c, h, w;
    DONE(cudnnCreatePoolingDescriptor(&windows));
    DONE(cudnnSetPooling2dDescriptor(windows, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    DONE(cudnnGetPooling2dForwardOutputDim(windows, in, &n, &c, &h, &w));
    REQUIRE(n == 1 && c == 1 && h == 2 && w == 2);
    DONE(cudnnPoolingForward(handle, windows, &one, in, x, &zero, out, y));
    fetch(got, y);
    REQUIRE(got[0] == 5 && got[1] == 7 && got[3] == 15);
    DONE(cudnnPoolingBackward(handle, windows, &one, out, y, out, y, in, x, &zero, in, dx));
    fetch(back, dx);
    REQUIRE(back[5] == 5 && back[4] == 0 && back[15] == 15);
    DONE(cudnnSetPooling2dDescriptor(windows, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, CUDNN_NOT_PROPAGATE_NAN, 3,
                                     3, 1, 1, 2, 2));
    DONE(cudnnPoolingForward(handle, windows, &one, in, x, &zero, out, y));
    fetch(got, y);
    REQUIRE(got[0] == 2.5f && got[3] == 10);
    DONE(cudnnDestroyPoolingDescriptor(windows));
    DONE(cudnnDestroyTensorDescriptor(in));
    DONE(cudnnDestroyTensorDescriptor(out));
    for (float *memory : {x, y, dx})
        CHECK(cudaFree(memory));
}

static void softmax_and_activation(cudnnHandle_t handle)
{
    float *x = device_ramp<float>(4, 0, 1), *y = device_zeros<float>(4), *dy = device_ramp<float>(4, 1, 0), got[4];
    cudnnTensorDescriptor_t line = tensor(1, 4, 1, 1);
    cudnnActivationDescriptor_t activation;
    DONE(
        cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, line, x, &zero, line, y));
    fetch(got, y);
    REQUIRE(close(got[0] + got[1] + got[2] + got[3], 1) && close(got[3] / got[2], 2.718281828));
    DONE(cudnnSoftmaxBackward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, line, y, line, dy,
                              &zero, line, dy));
    fetch(got, dy);
    REQUIRE(close(got[0], 0) && close(got[3], 0)); // a constant changes nothing
    DONE(cudnnCreateActivationDescriptor(&activation));
    DONE(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0));
    DONE(cudnnActivationForward(handle, activation, &one, line, x, &zero, line, y));
    DONE(cudnnActivationBackward(handle, activation, &one, line, y, line, x, line, x, &zero, line, dy));
    fetch(got, y);
    REQUIRE(close(got[1], 0.761594156));
    fetch(got, dy);
    REQUIRE(close(got[1], 1 - 0.761594156 * 0.761594156));
    DONE(cudnnDestroyActivationDescriptor(activation));
    DONE(cudnnDestroyTensorDescriptor(line));
    for (float *memory : {x, y, dy})
        CHECK(cudaFree(memory));
}

static long most_memory()
{
    struct rusage usage;
    REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss;
}

// The library needs no second copy of the tensors, which may fill the memory of the machine.
static void large_activation(cudnnHandle_t handle)
{
    const int n = 1 << 20, kilobytes_of_a_copy = n * (int)sizeof(float) / 1024;
    float *x = device_zeros<float>(n), *y = device_zeros<float>(n), last = 3;
    cudnnTensorDescriptor_t line = tensor(1, n, 1, 1);
    cudnnActivationDescriptor_t activation;
    CHECK(cudaMemcpy(x + n - 1, &last, sizeof last, cudaMemcpyHostToDevice));
    DONE(cudnnCreateActivationDescriptor(&activation));
    DONE(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    long before = most_memory();
    DONE(cudnnActivationForward(handle, activation, &one, line, x, &one, line, y));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(most_memory() - before < kilobytes_of_a_copy);
    CHECK(cudaMemcpy(&last, y + n - 1, sizeof last, cudaMemcpyDeviceToHost));
    REQUIRE(last == 3);
    DONE(cudnnDestroyActivationDescriptor(activation));
    DONE(cudnnDestroyTensorDescriptor(line));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

// Two channels of 0, 1, 4, 5 and 2, 3, 6, 7: means 2.5 and 4.5, variances 4.25.
static void normalisation(cudnnHandle_t handle)
{
    const double epsilon = 1e-5;
    float *x = device_ramp<float>(8, 0, 1), *y = device_zeros<float>(8), *dx = device_zeros<float>(8);
    float *scale = device_ramp<float>(2, 2, 0), *bias = device_ramp<float>(2, 1, 0), *mean = device_zeros<float>(2);
    float *variance = device_ramp<float>(2, 1, 0), *saved_mean, *saved_inverse, got[8], two[2];
    cudnnTensorDescriptor_t data = tensor(2, 2, 1, 2), parameters;
    CHECK(cudaMalloc(&saved_mean, sizeof two));
    CHECK(cudaMalloc(&saved_inverse, sizeof two));
    DONE(cudnnCreateTensorDescriptor(&parameters));
    DONE(cudnnDeriveBNTensorDescriptor(parameters, data, CUDNN_BATCHNORM_SPATIAL));
    DONE(cudnnBatchNormalizationForwardTraining(handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, data, x, data, y,
                                                parameters, scale, bias, 0.5, mean, variance, epsilon, saved_mean,
                                                saved_inverse));
    fetch(got, y);
    REQUIRE(close(got[0], 1 - 2 * 2.5 / std::sqrt(4.25 + epsilon)) && close(got[0] + got[1] + got[4] + got[5], 4));
    fetch(two, mean);
    REQUIRE(close(two[0], 1.25) && close(two[1], 2.25));
    fetch(two, variance);
    REQUIRE(close(two[0], 0.5 + 0.5 * 4.25 * 4 / 3));
    DONE(cudnnBatchNormalizationBackward(handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero, data, x, data, x,
                                         data, dx, parameters, scale, mean, bias, epsilon, saved_mean, saved_inverse));
    fetch(got, dx);
    REQUIRE(close(got[0] + got[1] + got[4] + got[5], 0));
    fetch(two, bias);
    REQUIRE(close(two[0], 10) && close(two[1], 18));
    DONE(cudnnBatchNormalizationForwardInference(handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, data, x, data, y,
                                                 parameters, scale, bias, saved_mean, scale, 0));
    fetch(got, y);
    REQUIRE(close(got[0], 2 * (0 - 2.5) / std::sqrt(2.0) + 10));
    DONE(cudnnDestroyTensorDescriptor(data));
    DONE(cudnnDestroyTensorDescriptor(parameters));
    for (float *memory : {x, y, dx, scale, bias, mean, variance, saved_mean, saved_inverse})
        CHECK(cudaFree(memory));
}

static void arithmetic(cudnnHandle_t handle)
{
    const float three = 3;
    float *a = device_ramp<float>(6, 1, 1), *b = device_ramp<float>(3, 1, 1), *c = NULL, *sum = device_zeros<float>(3);
    float got[6], total[3], *workspace = NULL;
    size_t bytes = 0;
    cudnnTensorDescriptor_t large = tensor(2, 3, 1, 1), small = tensor(1, 3, 1, 1);
    cudnnOpTensorDescriptor_t multiply;
    cudnnReduceTensorDescriptor_t add;
    CHECK(cudaMalloc(&c, sizeof got));
    DONE(cudnnCreateOpTensorDescriptor(&multiply));
    DONE(cudnnSetOpTensorDescriptor(multiply, CUDNN_OP_TENSOR_MUL, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN));
    DONE(cudnnOpTensor(handle, multiply, &one, large, a, &three, small, b, &zero, large, c));
    fetch(got, c);
    REQUIRE(got[0] == 3 && got[2] == 27 && got[5] == 54);
    DONE(cudnnCreateReduceTensorDescriptor(&add));
    DONE(cudnnSetReduceTensorDescriptor(add, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN,
                                        CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    DONE(cudnnGetReductionWorkspaceSize(handle, add, large, small, &bytes));
    CHECK(cudaMalloc(&workspace, bytes));
    DONE(cudnnReduceTensor(handle, add, NULL, 0, workspace, bytes, &one, large, a, &zero, small, sum));
    fetch(total, sum);
    REQUIRE(total[0] == 5 && total[1] == 7 && total[2] == 9);
    DONE(cudnnSetTensor(handle, large, c, &three));
    DONE(cudnnScaleTensor(handle, large, c, &three));
    DONE(cudnnAddTensor(handle, &one, small, b, &one, large, c));
    fetch(got, c);
    REQUIRE(got[0] == 10 && got[5] == 12);
    DONE(cudnnDestroyOpTensorDescriptor(multiply));
    DONE(cudnnDestroyReduceTensorDescriptor(add));
    DONE(cudnnDestroyTensorDescriptor(large));
    DONE(cudnnDestroyTensorDescriptor(small));
    for (float *memory : {a, b, c, sum, workspace})
        CHECK(cudaFree(memory));
}

int main()
{
    cudnnHandle_t handle;
    DONE(cudnnCreate(&handle));
    pooling(handle);
    softmax_and_activation(handle);
    large_activation(handle);
    normalisation(handle);
    arithmetic(handle);
    DONE(cudnnDestroy(handle));
    return 0;
}
