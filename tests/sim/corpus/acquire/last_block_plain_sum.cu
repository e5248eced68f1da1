// The last block adds up what the others stored by plain reads; its barrier is no fence towards them.
#include "../corpus.h"

// cure: that takes the lock or sees the flag, use
__device__ unsigned finished;

__global__ void sum(const int *input, int *partial, int *output)
{
    __shared__ bool last;
    __shared__ int part, total;
    if (threadIdx.x == 0)
        part = total = 0;
    __syncthreads();
    atomicAdd(&part, input[blockIdx.x * 64 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = part;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1; // expect: race(warning) a
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(&total, partial[threadIdx.x]); // expect: race(warning) a
    __syncthreads();
    if (last && threadIdx.x == 0)
        *output = total;
}

int main()
{
    int *input = device_ramp(256, 0, 1), *partial = device_zeros<int>(4), *output = device_zeros<int>(1), result[1];
    sum<<<4, 64>>>(input, partial, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 255 * 128);
    CHECK(cudaFree(input));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(output));
    return 0;
}
