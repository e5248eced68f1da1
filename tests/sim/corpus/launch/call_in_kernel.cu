// nvcc-refuses: needs -rdc. A kernel calls the runtime to fill rows of memory: not simulated, and told at the kernel's
// own line.
#include "../corpus.h"

__global__ void parent(int *data)
{
    cudaMemset2DAsync(data, 4, 0, 4, 1, 0); // expect: unsupported
}

int main()
{
    int *data = device_zeros<int>(1);
    parent<<<1, 1>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
