// A kernel updates in place what launches of its own stream have read before, while another stream is at work.
#include "../corpus.h"

__global__ void other_work(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void copy_first(const int *data, int *output)
{
    output[blockIdx.x * blockDim.x + threadIdx.x] = data[0] + data[threadIdx.x];
}

__global__ void increase(int *data)
{
    data[threadIdx.x] += 1;
}

int main()
{
    cudaStream_t a, b;
    int *elsewhere = device_zeros<int>(64), *data = device_zeros<int>(64), *output = device_zeros<int>(256), result[64];
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    other_work<<<1, 64, 0, a>>>(elsewhere);
    for (int i = 0; i < 3; i++) {
        copy_first<<<4, 64, 0, b>>>(data, output);
        increase<<<1, 64, 0, b>>>(data);
    }
    CHECK(cudaDeviceSynchronize());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 3);
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(elsewhere));
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
