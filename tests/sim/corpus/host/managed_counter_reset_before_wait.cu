// The host starts a counter anew while the kernel may still take numbers from it: that the kernel uses what its atomics
// return does not make them wait for the host.
#include "../corpus.h"

__global__ void push(int *counter, int *output)
{
    int slot = atomicAdd(counter, 1);
    output[slot] = threadIdx.x;
}

int main()
{
    int *counter = NULL, *output = device_zeros<int>(128);
    CHECK(cudaMallocManaged(&counter, sizeof(int)));
    *counter = 0;
    push<<<1, 32>>>(counter, output); // expect: missing-wait a+
    *counter = 0;                     // expect: missing-wait a+
    push<<<1, 32>>>(counter, output + 64);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(counter));
    SHOW(cudaFree(output));
    return 0;
}
