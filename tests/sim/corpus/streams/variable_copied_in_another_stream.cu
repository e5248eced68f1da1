// Copies and fills of __device__ and __constant__ variables in one stream, kernels that use them in another.
#include "../corpus.h"

#include <string.h>

__device__ int table[64], filled[64], waited_for[64];
__constant__ int factor;

__global__ void use(int *output)
{
    output[threadIdx.x] = table[63 - threadIdx.x];           // expect: missing-wait a
    output[threadIdx.x] += waited_for[threadIdx.x] * factor; // expect: missing-wait b
}

__global__ void change()
{
    filled[threadIdx.x] = 1; // expect: missing-wait c
}

int main()
{
    cudaStream_t copies, kernels;
    cudaEvent_t copied;
    int *host, *output = device_zeros<int>(64);
    void *address;
    CHECK(cudaMallocHost(&host, 256));
    memset(host, 0, 256);
    CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&copied));
    CHECK(cudaGetSymbolAddress(&address, filled));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyToSymbolAsync(waited_for, host, 256, 0, cudaMemcpyHostToDevice, copies));
    CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaStreamWaitEvent(kernels, copied, 0));
    CHECK(cudaMemcpyToSymbolAsync(table, host, 256, 0, cudaMemcpyHostToDevice, copies)); // expect: missing-wait a
    CHECK(cudaMemcpyToSymbolAsync(factor, host, 4, 0, cudaMemcpyHostToDevice, copies));  // expect: missing-wait b
    use<<<1, 64, 0, kernels>>>(output);
    change<<<1, 64, 0, kernels>>>();
    CHECK(cudaMemsetAsync(address, 0, 256, copies)); // expect: missing-wait c
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(copied));
    CHECK(cudaStreamDestroy(copies));
    CHECK(cudaStreamDestroy(kernels));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(output));
    return 0;
}
