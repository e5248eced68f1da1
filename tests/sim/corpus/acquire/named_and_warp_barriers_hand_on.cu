// One thread sees the flag of another block and fences; who meets it then, at a named barrier or in its warp, may read.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 42;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else if (threadIdx.x < 64) {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0)
                ;
            __threadfence();
        }
        asm volatile("bar.sync 1, 64;");
        output[threadIdx.x] = data[63 - threadIdx.x];
    } else {
        if (threadIdx.x == 64) {
            while (atomicAdd(flag, 0) == 0)
                ;
            __threadfence();
        }
        __syncwarp();
        output[threadIdx.x] = data[95 - threadIdx.x];
    }
}

int main()
{
    int *data = device_zeros<int>(96), *flag = device_zeros<int>(1), *output = device_zeros<int>(96), result[96];
    pass_on<<<2, 96>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 96; i++)
        REQUIRE(result[i] == 42);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}
