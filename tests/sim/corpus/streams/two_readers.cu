// A kernel and copies in other streams read the same memory at the same time, which nothing has to order.
#include "../corpus.h"

__global__ void twice(const int *data, int *output)
{
    output[threadIdx.x] = 2 * data[threadIdx.x];
}

int main()
{
    cudaStream_t a, b, c;
    int *data = device_ramp(64, 0, 1), *output = device_zeros<int>(64), *other = device_zeros<int>(64), *host = NULL;
    CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(other, data, 64 * sizeof(int), cudaMemcpyDeviceToDevice, a));
    twice<<<1, 64, 0, b>>>(data, output);
    CHECK(cudaMemcpyAsync(host, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, c));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(host[63] == 63);
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaStreamDestroy(c));
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    CHECK(cudaFree(other));
    CHECK(cudaFreeHost(host));
    return 0;
}
