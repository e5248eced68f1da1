// Memory is freed and new memory taken; the old pointer is still used.
#include "../corpus.h"

__global__ void sum(const int *data, int *output)
{
    output[threadIdx.x] = data[threadIdx.x]; // expect: use-after-free
}

int main()
{
    int *old_data = device_zeros<int>(64);
    CHECK(cudaFree(old_data));
    int *output = device_zeros<int>(64);
    sum<<<1, 64>>>(old_data, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
