// A flag polled by ld.volatile, the message behind it read past the first cache, two words at once.
#include "../corpus.h"

__device__ int seen(int *flag)
{
    int value;
    asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(value) : "l"(flag));
    return value;
}

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        data[0] = 42, data[1] = 43;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (seen(flag) == 0)
            ;
        asm volatile("ld.global.cg.v2.s32 {%0, %1}, [%2];" : "=r"(output[0]), "=r"(output[1]) : "l"(data));
    }
}

int main()
{
    int *data = device_zeros<int>(2), *flag = device_zeros<int>(1), *output = device_zeros<int>(2), result[2];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 42 && result[1] == 43);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}
