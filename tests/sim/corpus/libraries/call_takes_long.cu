// A call of a library that takes longer than a thread may run without a memory access: the library is at work, however
// long. So that it surely takes that long, tanh is the program's own.
// spin limit: 0.01
#include "../corpus.h"
#include <cudnn.h>

#define DONE(call) REQUIRE((call) == CUDNN_STATUS_SUCCESS)

extern "C" double tanh(double x) noexcept
{
    for (int i = 0; i < 100000000; i++)
        asm volatile("");
    return x;
}

int main()
{
    const float one = 1, zero = 0;
    float *x = device_zeros<float>(1), first = 1;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t single;
    cudnnActivationDescriptor_t activation;
    DONE(cudnnCreate(&handle));
    DONE(cudnnCreateTensorDescriptor(&single));
    DONE(cudnnSetTensor4dDescriptor(single, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1));
    DONE(cudnnCreateActivationDescriptor(&activation));
    DONE(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0));
    DONE(cudnnActivationForward(handle, activation, &one, single, x, &zero, single, x));
    CHECK(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost));
    REQUIRE(first == 0);
    DONE(cudnnDestroyActivationDescriptor(activation));
    DONE(cudnnDestroyTensorDescriptor(single));
    DONE(cudnnDestroy(handle));
    CHECK(cudaFree(x));
    return 0;
}
