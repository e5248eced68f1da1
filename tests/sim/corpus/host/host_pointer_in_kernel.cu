// A kernel is given memory from malloc.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: host-pointer
}

int main()
{
    int *data = (int *)malloc(64 * sizeof(int));
    fill<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    free(data);
    return 0;
}
