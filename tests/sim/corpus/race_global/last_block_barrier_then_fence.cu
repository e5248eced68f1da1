// Every thread stores a part; after the barrier thread 0's fence covers them all. The last block's threads fence before
// they read.
#include "../corpus.h"

__device__ unsigned finished;

__global__ void sum(const int *input, int *partial, int *output)
{
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 64 + t] = 2 * input[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t < 64) {
        __threadfence();
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            total += partial[b * 64 + t];
        atomicAdd(output, total);
    }
}

int main()
{
    int *input = device_ramp(256, 0, 1), *partial = device_zeros<int>(256), *output = device_zeros<int>(1), result[1];
    sum<<<4, 64>>>(input, partial, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 255 * 256);
    CHECK(cudaFree(input));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(output));
    return 0;
}
