// Host code sets and reads device variables by their names: on a GPU those are copies of its own.
// cure: cudaMemcpyToSymbol
#include "../corpus.h"

__device__ int counter;
__device__ int limit = 5;
__device__ int lonely;
__constant__ float weights[8];

__global__ void count(float *output)
{
    atomicAdd(&counter, 1);
    output[threadIdx.x] = weights[threadIdx.x];
}

int main()
{
    counter = 0; // expect: device-pointer
    float *output = device_zeros<float>(8);
    for (int i = 0; i < 8; i++)
        weights[i] = (float)i; // expect: device-pointer
    count<<<1, 8>>>(output);
    SHOW(cudaDeviceSynchronize());
    printf("%d\n", counter);       // expect: device-pointer
    printf("%d\n", limit);         // expect: device-pointer
    lonely = 1;                    // expect: device-pointer(warning)
    asm volatile("" ::: "memory"); // so that the compiler reads it again
    printf("%d\n", lonely);        // expect: device-pointer(warning)
    CHECK(cudaFree(output));
    return 0;
}
