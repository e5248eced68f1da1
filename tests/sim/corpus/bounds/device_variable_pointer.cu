// Pointers into __device__ and __constant__ arrays that leave them: behind the end, before the start, in a function
// that is given the array, and through the address that the host asked for.
#include "../corpus.h"

__device__ int first[8];
__device__ int table[8];
__device__ int last[8];
__constant__ float weights[5];
__device__ char text[6];

// memory: table
__global__ void behind(int *output, int index)
{
    int *p = table;
    output[0] = p[index]; // expect: out-of-bounds
}

__device__ __noinline__ int take(const int *from, int index)
{
    return from[index]; // expect: out-of-bounds
}

__global__ void before(int *output, int index)
{
    output[0] = take(table, index);
}

__global__ void store(int index)
{
    int *p = table;
    p[index] = 1; // expect: out-of-bounds
}

__global__ void by_address(int *from, int *output, int index)
{
    output[threadIdx.x] = from[index + threadIdx.x]; // expect: out-of-bounds
}

// The card is as new after an error that no launch survives.
static void end()
{
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
}

int main()
{
    int *address;
    behind<<<1, 1>>>(device_zeros<int>(8), 9);
    end();
    before<<<1, 1>>>(device_zeros<int>(8), -1);
    end();
    store<<<1, 1>>>(8);
    end();
    CHECK(cudaGetSymbolAddress((void **)&address, table));
    by_address<<<1, 8>>>(address, device_zeros<int>(8), 4);
    end();
    return 0;
}
