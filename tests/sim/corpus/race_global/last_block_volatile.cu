// The last block adds up what the others left in volatile memory, but no fence stands between their stores and the
// count.
#include "../corpus.h"

__device__ unsigned int done = 0;

__global__ void sum(const int *input, volatile int *parts, int *output)
{
    if (threadIdx.x != 0)
        return;
    int part = 0;
    for (int i = 0; i < 16; i++)
        part += input[blockIdx.x * 16 + i];
    parts[blockIdx.x] = part; // expect: race a
    if (atomicInc(&done, gridDim.x) != gridDim.x - 1)
        return;
    int total = 0;
    for (int block = 0; block < (int)gridDim.x; block++)
        total += parts[block]; // expect: race a
    *output = total;
}

int main()
{
    int *input = device_ramp<int>(8 * 16, 0, 1), *parts = device_zeros<int>(8), *output = device_zeros<int>(1);
    sum<<<8, 32>>>(input, parts, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(output));
    return 0;
}
