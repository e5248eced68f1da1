// Unwritten memory copied from one allocation to another stays unwritten.
#include "../corpus.h"

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2; // expect: uninitialised
}

int main()
{
    int *from = NULL, *to = device_zeros<int>(32);
    CHECK(cudaMalloc(&from, 32 * sizeof(int)));
    CHECK(cudaMemcpy(to, from, 32 * sizeof(int), cudaMemcpyDeviceToDevice));
    twice<<<1, 32>>>(to);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(from));
    SHOW(cudaFree(to));
    return 0;
}
