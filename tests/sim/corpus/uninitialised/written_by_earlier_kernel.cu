// Memory that is first written by a kernel, then read by the next: initialised.
#include "../corpus.h"

__global__ void make(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2;
}

int main()
{
    int *data = NULL, result[64];
    CHECK(cudaMalloc(&data, sizeof result));
    make<<<1, 64>>>(data);
    twice<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 2 * i);
    CHECK(cudaFree(data));
    return 0;
}
