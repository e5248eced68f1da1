// cudaFree straight after a launch: it waits for the kernel, so this is right.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = device_zeros<int>(64);
    fill<<<1, 64>>>(data);
    CHECK(cudaFree(data));
    CHECK(cudaGetLastError());
    return 0;
}
