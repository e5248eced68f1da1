// A loop without any memory access that never ends: told at the line where it begins.
#include "../corpus.h"

__global__ void forever(int *output)
{
    unsigned x = threadIdx.x + 1;
    while (x != 0) { // expect: spin
        x = x * 2 + 1;
        asm volatile("" : "+r"(x));
    }
    *output = (int)x;
}

int main()
{
    int *output = device_zeros<int>(1);
    forever<<<1, 1>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
