// The time between two events is asked for once, before the second has happened.
#include "../corpus.h"

__global__ void add(int *data)
{
    data[threadIdx.x] += 1;
}

int main()
{
    int *data = device_zeros<int>(32);
    float milliseconds = 0;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    add<<<1, 32>>>(data);
    CHECK(cudaEventRecord(stop));
    SHOW(cudaEventElapsedTime(&milliseconds, start, stop)); // expect: missing-wait
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(data));
    return 0;
}
