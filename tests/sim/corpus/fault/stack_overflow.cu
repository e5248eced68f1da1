// A recursion that never ends.
#include "../corpus.h"

__device__ __noinline__ int dig(int depth, volatile int *trace)
{                                                    // expect: stack-overflow a+
    int here[16];                                    // expect: stack-overflow a+
    here[depth % 16] = depth;                        // expect: stack-overflow a+
    trace[0] = depth;                                // expect: stack-overflow a+
    return dig(depth + 1, trace) + here[depth % 16]; // expect: stack-overflow a+
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
