// nvcc-refuses: needs -rdc. A kernel launches a kernel: not simulated, and said so.
#include "../corpus.h"

__global__ void child(int *data)
{
    data[threadIdx.x] = 1;
}

__global__ void parent(int *data)
{
    if (threadIdx.x == 0)
        child<<<1, 32>>>(data); // expect: unsupported
}

int main()
{
    int *data = device_zeros<int>(32);
    parent<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
