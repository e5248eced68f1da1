// One thread sees the flag of another block and meets two warps at a named barrier: that orders them with it, but is no
// fence towards the block that wrote.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x < 64)
            data[threadIdx.x] = 42;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else if (threadIdx.x < 64) {
        if (threadIdx.x == 0)
            while (atomicAdd(flag, 0) == 0) // expect: race(warning) a
                ;
        asm volatile("bar.sync 1, 64;");
        output[threadIdx.x] = data[63 - threadIdx.x]; // expect: race(warning) a
    }
}

int main()
{
    int *data = device_zeros<int>(64), *flag = device_zeros<int>(1), *output = device_zeros<int>(64);
    pass_on<<<2, 96>>>(data, flag, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(flag));
    SHOW(cudaFree(output));
    return 0;
}
