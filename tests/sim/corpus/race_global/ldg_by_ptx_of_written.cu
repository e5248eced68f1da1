// ld.global.nc, alone and of a vector, of what other threads of the same kernel have written.
#include "../corpus.h"

__global__ void reverse(int *data)
{
    int other, first, second;
    data[threadIdx.x] = threadIdx.x; // expect: race(warning) a; expect: race(warning) b
    __syncthreads();
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(other) : "l"(data + 63 - threadIdx.x)); // expect: race(warning) a
    asm volatile("ld.global.nc.v2.s32 {%0, %1}, [%2];"                                       // expect: race(warning) b
                 : "=r"(first), "=r"(second)
                 : "l"(data + 62 - threadIdx.x / 2 * 2));
    __syncthreads();
    data[threadIdx.x] = other + first + second;
}

int main()
{
    int *data = device_zeros<int>(64);
    reverse<<<1, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
