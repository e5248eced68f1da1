// A kernel given NULL.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: fault
}

int main()
{
    int *data = NULL;
    fill<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
