// cuDNN called wrongly: an output described with other sizes, a workspace that is too small, an input that is not
// initialised, one that another stream still writes, and at last an output that is too small for its descriptor.
#include "../corpus.h"
#include <cudnn.h>

const int N = 8;

__global__ void fill(float *x)
{
    x[threadIdx.x] = 1; // expect: missing-wait a
}

static cudnnTensorDescriptor_t tensor(int h, int w)
{
    cudnnTensorDescriptor_t made;
    cudnnCreateTensorDescriptor(&made);
    cudnnSetTensor4dDescriptor(made, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, h, w);
    return made;
}

#define CONVOLVE(x, algorithm, bytes, y_desc, y)                                                                       \
    cudnnConvolutionForward(handle, &one, image, x, filter, w, convolution, algorithm, work, bytes, &zero, y_desc, y)

int main()
{
    const float one = 1, zero = 0;
    float *x = device_zeros<float>(N * N), *w = device_zeros<float>(9), *y = device_zeros<float>(N * N), *nothing;
    void *work = device_zeros<char>(N * N * (int)sizeof(float));
    cudaStream_t stream;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t image = tensor(N, N), cut = tensor(N - 2, N - 2);
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t convolution;
    CHECK(cudaMalloc(&nothing, N * N * sizeof *nothing));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudnnCreate(&handle);
    cudnnCreateFilterDescriptor(&filter);
    cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 3, 3);
    cudnnCreateConvolutionDescriptor(&convolution);
    cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    CONVOLVE(x, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0, cut, y);         // expect: bad-call
    CONVOLVE(x, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, 4, image, y);                // expect: bad-call
    CONVOLVE(nothing, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0, image, y); // expect: uninitialised
    CHECK(cudaDeviceSynchronize());
    fill<<<1, N * N, 0, stream>>>(x);
    CONVOLVE(x, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0, image, y); // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    CONVOLVE(x, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0, image, w); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    return 0;
}
