// The program calls exit from a function while memory is still allocated: findings so far are kept.
#include "../corpus.h"

__global__ void racy(int *cell)
{
    *cell = threadIdx.x; // expect: race
}

int main()
{
    int *cell = NULL;
    CHECK(cudaMalloc(&cell, sizeof(int))); // expect: leak(warning)
    racy<<<1, 64>>>(cell);
    SHOW(cudaDeviceSynchronize());
    exit(0);
}
