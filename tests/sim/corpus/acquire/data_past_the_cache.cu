// Behind the flag the message is read past the first cache, or by an atomic: there is no older one to find.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        for (int i = 0; i < 4; i++)
            data[i] = 42 + i;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0)
            ;
        output[0] = __ldcg(&data[0]) + __ldcv(&data[1]);
        output[1] = atomicAdd(&data[2], 0);
        asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(output[2]) : "l"(&data[3]));
    }
}

int main()
{
    int *data = device_zeros<int>(4), *flag = device_zeros<int>(1), *output = device_zeros<int>(3), result[3];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 85 && result[1] == 44 && result[2] == 45);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}
