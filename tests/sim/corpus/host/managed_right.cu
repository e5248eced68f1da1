// Managed memory: written by the host, by a kernel, and read after the wait.
#include "../corpus.h"

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2;
}

int main()
{
    int *data = NULL;
    CHECK(cudaMallocManaged(&data, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        data[i] = i;
    twice<<<1, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        REQUIRE(data[i] == 2 * i);
    CHECK(cudaFree(data));
    return 0;
}
