// A stale pointer, and an index past the end of what it pointed to: guarding the index would not help.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x + 100] = 1; // expect: use-after-free
}

int main()
{
    int *data = device_zeros<int>(64);
    CHECK(cudaFree(data));
    fill<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
