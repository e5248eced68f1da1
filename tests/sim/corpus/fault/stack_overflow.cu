// A recursion that never ends.
#include "../corpus.h"

__device__ __noinline__ int dig(int depth, volatile int *trace)
{
    int here[16];
    here[depth % 16] = depth;
    trace[0] = depth;
    return dig(depth + 1, trace) + here[depth % 16]; // expect: stack-overflow
}

__global__ void start(int *output)
{
    output[1] = dig(0, output);
}

int main()
{
    int *output = device_zeros<int>(2);
    start<<<1, 1>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
