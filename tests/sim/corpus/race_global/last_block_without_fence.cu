// The last block to finish adds up the partial sums, but no fence lies between the sum and the counter.
#include "../corpus.h"

__device__ unsigned finished;

__global__ void sum(const int *input, int *partial, int *output)
{
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        int mine = 0;
        for (int i = 0; i < 64; i++)
            mine += input[blockIdx.x * 64 + i];
        partial[blockIdx.x] = mine; // expect: race a
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            total += partial[b]; // expect: race a
        *output = total;
    }
}

int main()
{
    int *input = device_ramp(512, 0, 1), *partial = device_zeros<int>(8), *output = device_zeros<int>(1);
    sum<<<8, 64>>>(input, partial, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(output));
    return 0;
}
