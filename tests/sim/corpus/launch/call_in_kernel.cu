// nvcc-refuses: needs -rdc. A kernel calls the runtime to fill memory: not simulated, and told at the kernel's own
// line.
#include "../corpus.h"

__global__ void parent(int *data)
{
    cudaMemsetAsync(data, 0, 4, 0); // expect: unsupported
}

int main()
{
    int *data = device_zeros<int>(1);
    parent<<<1, 1>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
