// Memory that is never freed.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = NULL;
    CHECK(cudaMalloc(&data, 256)); // expect: leak(warning)
    fill<<<1, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
