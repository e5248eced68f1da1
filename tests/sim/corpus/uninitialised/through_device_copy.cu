// Memory of which half is written, copied from one allocation to another: the other half stays unwritten.
#include "../corpus.h"

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2; // expect: uninitialised
}

__global__ void thrice(int *data)
{
    data[threadIdx.x] *= 3;
}

int main()
{
    int *from = NULL, *to = device_zeros<int>(32);
    CHECK(cudaMalloc(&from, 32 * sizeof(int)));
    CHECK(cudaMemset(from, 0, 16 * sizeof(int)));
    CHECK(cudaMemcpy(to, from, 32 * sizeof(int), cudaMemcpyDeviceToDevice));
    thrice<<<1, 16>>>(to);
    twice<<<1, 32>>>(to);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(from));
    SHOW(cudaFree(to));
    return 0;
}
