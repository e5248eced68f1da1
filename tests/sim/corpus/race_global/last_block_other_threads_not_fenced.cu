// Every thread stores a part, but only thread 0 fences, with no barrier before: the other threads' stores are not
// covered.
#include "../corpus.h"

__device__ unsigned finished;

__global__ void sum(const int *input, int *partial, int *output)
{
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 64 + t] = 2 * input[blockIdx.x * 64 + t]; // expect: race a
    if (t == 0) {
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int total = 0;
        for (unsigned i = 0; i < gridDim.x * 64; i++)
            total += partial[i]; // expect: race a
        *output = total;
    }
}

int main()
{
    int *input = device_ramp(256, 0, 1), *partial = device_zeros<int>(256), *output = device_zeros<int>(1);
    sum<<<4, 64>>>(input, partial, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(output));
    return 0;
}
