// Streams with priorities, cudaStreamQuery, cudaEventQuery, elapsed time.
#include "../corpus.h"

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

int main()
{
    int least, greatest, priority, *data = device_zeros<int>(64), result[64];
    cudaStream_t high;
    cudaEvent_t start, stop;
    float milliseconds = -1;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(greatest <= least);
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(high, &priority));
    REQUIRE(priority == greatest);
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(start, high));
    fill<<<1, 64, 0, high>>>(data, 3);
    CHECK(cudaEventRecord(stop, high));
    while (cudaEventQuery(stop) == cudaErrorNotReady)
        ;
    CHECK(cudaGetLastError()); // cudaErrorNotReady does not count as an error
    CHECK(cudaStreamQuery(high));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    REQUIRE(milliseconds >= 0);
    fetch(result, data);
    REQUIRE(result[63] == 3);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(high));
    CHECK(cudaFree(data));
    return 0;
}
