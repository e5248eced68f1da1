// __ldg of what other threads of the same kernel have written: a barrier orders the accesses, and empties no cache.
#include "../corpus.h"

__global__ void reverse(int *data)
{
    data[threadIdx.x] = threadIdx.x; // expect: race(warning) a
    __syncthreads();
    int other = __ldg(&data[63 - threadIdx.x]); // expect: race(warning) a
    __syncthreads();
    data[threadIdx.x] = other;
}
// cure: __ldcg

int main()
{
    int *data = device_zeros<int>(64);
    reverse<<<1, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
