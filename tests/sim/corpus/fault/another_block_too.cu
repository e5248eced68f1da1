// One block writes out of bounds, which ends nothing: the race of another block is found in the same run.
#include "../corpus.h"

__global__ void two(int *data, int n)
{
    __shared__ int sum;
    if (blockIdx.x == 0)
        data[n + threadIdx.x] = 1; // expect: out-of-bounds
    else
        sum = threadIdx.x; // expect: race
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 0)
        data[0] = sum;
}

int main()
{
    int *data;
    CHECK(cudaMalloc(&data, 32 * sizeof(int)));
    two<<<2, 32>>>(data, 32);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
