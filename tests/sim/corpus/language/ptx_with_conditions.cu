// flags: -DGROUP=64. An asm statement with #if between its operands, and one that chooses its instruction.
#include "../corpus.h"

__global__ void reverse_halves(int *output)
{
    __shared__ int s[128];
    int t = threadIdx.x, doubled;
    s[t] = t;
    asm volatile("bar.sync %0, %1;" ::"r"(1 + t / 64),
#if GROUP == 32
                 "r"(32)
#elif GROUP == 64
                 "r"(64)
#else
                 "r"(128)
#endif
                 : "memory");
    asm(
#ifdef GROUP
        "add.s32 %0, %1, %1;"
#else
        "mov.s32 %0, %1;"
#endif
        : "=r"(doubled)
        : "r"(s[t / 64 * 64 + 63 - t % 64]));
    output[t] = doubled;
}

int main()
{
    int *output = device_zeros<int>(128), host[128];
    reverse_halves<<<1, 128>>>(output);
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    REQUIRE(host[0] == 126 && host[64] == 254);
    CHECK(cudaFree(output));
    return 0;
}
