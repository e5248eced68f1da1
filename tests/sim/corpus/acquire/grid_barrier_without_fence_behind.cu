// A barrier between blocks made by hand: thread 0 fences before it arrives, but not after it has seen the others.
#include "../corpus.h"

// cure: after the atomic that takes the lock
__device__ unsigned arrived;

__device__ void grid_barrier(unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned *)&arrived < goal) // expect: race(warning) a
            ;
    }
    __syncthreads();
}

__global__ void exchange(int *data, int *output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = i;
    grid_barrier(gridDim.x);
    output[i] = data[n - 1 - i]; // expect: race(warning) a
}

int main()
{
    int *data = device_zeros<int>(128), *output = device_zeros<int>(128), result[128];
    void *arguments[] = {&data, &output};
    CHECK(cudaLaunchCooperativeKernel((void *)exchange, dim3(4), dim3(32), arguments, 0, 0));
    fetch(result, output);
    for (int i = 0; i < 128; i++)
        REQUIRE(result[i] == 127 - i);
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
