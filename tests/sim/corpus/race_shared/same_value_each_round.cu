// In every round all threads store the same value, another one than in the round before: formal only. In `last` they
// store different ones.
#include "../corpus.h"

__global__ void count(int rounds, int *output)
{
    __shared__ int round, last;
    for (int i = 0; i < rounds; i++) {
        round = i;                  // expect: race(warning)
        last = i + threadIdx.x % 2; // expect: race
        __syncthreads();
        output[threadIdx.x] += round + last;
        __syncthreads();
    }
}

int main()
{
    int *output = device_zeros<int>(64);
    count<<<1, 64>>>(4, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
