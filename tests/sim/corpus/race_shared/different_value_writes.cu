// Every thread that finds the key stores its own index: which one stays is chance.
#include "../corpus.h"

__global__ void find(const int *data, int key, int *found)
{
    __shared__ int where;
    if (threadIdx.x == 0)
        where = -1;
    __syncthreads();
    if (data[threadIdx.x] == key)
        where = threadIdx.x; // expect: race
    __syncthreads();
    if (threadIdx.x == 0)
        *found = where;
}

int main()
{
    int *data = device_ramp(64, 7, 0), *found = device_zeros<int>(1);
    find<<<1, 64>>>(data, 7, found);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(found));
    return 0;
}
