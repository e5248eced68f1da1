// A sum over memory that nobody wrote.
#include "../corpus.h"

__global__ void add(int *total, const int *data)
{
    atomicAdd(total, data[threadIdx.x]); // expect: uninitialised
}

int main()
{
    int *data = NULL, *total = device_zeros<int>(1);
    CHECK(cudaMalloc(&data, 64 * sizeof(int)));
    add<<<1, 64>>>(total, data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(total));
    return 0;
}
