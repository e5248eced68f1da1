// cuDNN's convolutions: by hand on nine numbers, then with groups, padding, strides and dilation, channels last, where
// forward, backward to the data and backward to the filter must be adjoint to each other.
#include "../corpus.h"
#include <cmath>
#include <cudnn.h>
#include <vector>

#define DONE(call) REQUIRE((call) == CUDNN_STATUS_SUCCESS)

struct shape {
    int n, c, h, w;
};

static cudnnTensorDescriptor_t tensor(cudnnTensorFormat_t format, shape s)
{
    cudnnTensorDescriptor_t made;
    DONE(cudnnCreateTensorDescriptor(&made));
    DONE(cudnnSetTensor4dDescriptor(made, format, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w));
    return made;
}

static cudnnFilterDescriptor_t filter(cudnnTensorFormat_t format, shape s)
{
    cudnnFilterDescriptor_t made;
    DONE(cudnnCreateFilterDescriptor(&made));
    DONE(cudnnSetFilter4dDescriptor(made, CUDNN_DATA_FLOAT, format, s.n, s.c, s.h, s.w));
    return made;
}

struct problem {
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    int x_count, w_count, y_count;

    problem(cudnnTensorFormat_t format, shape x_shape, shape w_shape, int groups, const int (&how)[6],
            cudnnConvolutionMode_t mode)
    {
        shape out;
        x = tensor(format, x_shape);
        w = filter(format, w_shape);
        DONE(cudnnCreateConvolutionDescriptor(&convolution));
        DONE(cudnnSetConvolution2dDescriptor(convolution, how[0], how[1], how[2], how[3], how[4], how[5], mode,
                                             CUDNN_DATA_FLOAT));
        DONE(cudnnSetConvolutionGroupCount(convolution, groups));
        DONE(cudnnGetConvolution2dForwardOutputDim(convolution, x, w, &out.n, &out.c, &out.h, &out.w));
        y = tensor(format, out);
        x_count = x_shape.n * x_shape.c * x_shape.h * x_shape.w;
        w_count = w_shape.n * w_shape.c * w_shape.h * w_shape.w;
        y_count = out.n * out.c * out.h * out.w;
    }

    ~problem()
    {
        DONE(cudnnDestroyTensorDescriptor(x));
        DONE(cudnnDestroyTensorDescriptor(y));
        DONE(cudnnDestroyFilterDescriptor(w));
        DONE(cudnnDestroyConvolutionDescriptor(convolution));
    }
};

static const float one = 1, zero = 0;

static std::vector<float> fetched(const float *memory, int count)
{
    std::vector<float> host(count);
    CHECK(cudaMemcpy(host.data(), memory, count * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
}

static void forward(cudnnHandle_t handle, const problem &p, const float *x, const float *w, float *y)
{
    cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;
    size_t bytes = 0;
    void *workspace = NULL;
    DONE(cudnnGetConvolutionForwardAlgorithm_v7(handle, p.x, p.w, p.convolution, p.y, CUDNN_CONVOLUTION_FWD_ALGO_COUNT,
                                                &count, found));
    REQUIRE(count > 0 && found[0].status == CUDNN_STATUS_SUCCESS);
    DONE(cudnnGetConvolutionForwardWorkspaceSize(handle, p.x, p.w, p.convolution, p.y, found[0].algo, &bytes));
    CHECK(cudaMalloc(&workspace, bytes));
    DONE(cudnnConvolutionForward(handle, &one, p.x, x, p.w, w, p.convolution, found[0].algo, workspace, bytes, &zero,
                                 p.y, y));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(workspace));
}

static void backward(cudnnHandle_t handle, const problem &p, const float *x, const float *w, const float *dy, float *dx,
                     float *dw)
{
    DONE(cudnnConvolutionBackwardData(handle, &one, p.w, w, p.y, dy, p.convolution, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
                                      NULL, 0, &zero, p.x, dx));
    DONE(cudnnConvolutionBackwardFilter(handle, &one, p.x, x, p.y, dy, p.convolution,
                                        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0, &zero, p.w, dw));
}

static void by_hand(cudnnHandle_t handle)
{
    const problem p(CUDNN_TENSOR_NCHW, {1, 1, 3, 3}, {1, 1, 2, 2}, 1, {0, 0, 1, 1, 1, 1}, CUDNN_CROSS_CORRELATION);
    const problem turned(CUDNN_TENSOR_NCHW, {1, 1, 3, 3}, {1, 1, 2, 2}, 1, {0, 0, 1, 1, 1, 1}, CUDNN_CONVOLUTION);
    float *x = device_ramp<float>(9, 1, 1), *w = device_ramp<float>(4, 1, 1), *y = NULL;
    float *dy = device_ramp<float>(4, 1, 0), *dx = device_zeros<float>(9), *dw = device_zeros<float>(4);
    CHECK(cudaMalloc(&y, 4 * sizeof *y)); // not initialised: beta is 0
    forward(handle, p, x, w, y);
    std::vector<float> got = fetched(y, 4);
    REQUIRE(got[0] == 37 && got[1] == 47 && got[2] == 67 && got[3] == 77);
    forward(handle, turned, x, w, y);
    REQUIRE(fetched(y, 1)[0] == 23);
    backward(handle, p, x, w, dy, dx, dw);
    got = fetched(dx, 9);
    REQUIRE(got[0] == 1 && got[4] == 10 && got[8] == 4);
    got = fetched(dw, 4);
    REQUIRE(got[0] == 12 && got[3] == 28);
    for (float *memory : {x, w, y, dy, dx, dw})
        CHECK(cudaFree(memory));
}

static double product(const std::vector<float> &a, const std::vector<float> &b)
{
    double sum = 0;
    for (size_t i = 0; i < a.size(); i++)
        sum += (double)a[i] * b[i];
    return sum;
}

static void adjoint(cudnnHandle_t handle)
{
    const problem p(CUDNN_TENSOR_NHWC, {2, 4, 6, 5}, {6, 2, 3, 2}, 2, {1, 2, 2, 1, 1, 2}, CUDNN_CROSS_CORRELATION);
    float *x = device_ramp<float>(p.x_count, 1, 0.5f), *w = device_ramp<float>(p.w_count, -2, 0.25f);
    float *dy = device_ramp<float>(p.y_count, 3, -0.125f), *y = device_zeros<float>(p.y_count);
    float *dx = device_zeros<float>(p.x_count), *dw = device_zeros<float>(p.w_count);
    forward(handle, p, x, w, y);
    backward(handle, p, x, w, dy, dx, dw);
    double result = product(fetched(y, p.y_count), fetched(dy, p.y_count));
    double data = product(fetched(x, p.x_count), fetched(dx, p.x_count));
    double filters = product(fetched(w, p.w_count), fetched(dw, p.w_count));
    REQUIRE(std::fabs(result) > 1 && std::fabs(data / result - 1) < 1e-4 && std::fabs(filters / result - 1) < 1e-4);
    for (float *memory : {x, w, dy, y, dx, dw})
        CHECK(cudaFree(memory));
}

// relu(conv + z + bias) is the same as its parts.
static void fused(cudnnHandle_t handle)
{
    const problem p(CUDNN_TENSOR_NCHW, {1, 2, 3, 3}, {2, 2, 3, 3}, 1, {1, 1, 1, 1, 1, 1}, CUDNN_CROSS_CORRELATION);
    float *x = device_ramp<float>(18, -4, 0.5f), *w = device_ramp<float>(36, -1, 0.125f), *y = device_zeros<float>(18);
    float *bias = device_ramp<float>(2, 1, 2), *z = device_ramp<float>(18, 0, 1), *parts = device_zeros<float>(18);
    cudnnTensorDescriptor_t per_channel = tensor(CUDNN_TENSOR_NCHW, {1, 2, 1, 1});
    cudnnActivationDescriptor_t relu;
    DONE(cudnnCreateActivationDescriptor(&relu));
    DONE(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    DONE(cudnnConvolutionBiasActivationForward(handle, &one, p.x, x, p.w, w, p.convolution,
                                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &one, p.y, z,
                                               per_channel, bias, relu, p.y, y));
    forward(handle, p, x, w, parts);
    DONE(cudnnAddTensor(handle, &one, per_channel, bias, &one, p.y, parts));
    DONE(cudnnAddTensor(handle, &one, p.y, z, &one, p.y, parts));
    DONE(cudnnActivationForward(handle, relu, &one, p.y, parts, &zero, p.y, parts));
    std::vector<float> whole = fetched(y, 18), pieces = fetched(parts, 18);
    for (int i = 0; i < 18; i++)
        REQUIRE(std::fabs(whole[i] - pieces[i]) < 1e-4f);
    DONE(cudnnConvolutionBackwardBias(handle, &one, p.y, z, &zero, per_channel, bias));
    REQUIRE(fetched(bias, 2)[0] == 36 && fetched(bias, 2)[1] == 117);
    DONE(cudnnDestroyActivationDescriptor(relu));
    DONE(cudnnDestroyTensorDescriptor(per_channel));
    for (float *memory : {x, w, y, bias, z, parts})
        CHECK(cudaFree(memory));
}

int main()
{
    cudnnHandle_t handle;
    DONE(cudnnCreate(&handle));
    by_hand(handle);
    adjoint(handle);
    fused(handle);
    DONE(cudnnDestroy(handle));
    return 0;
}
