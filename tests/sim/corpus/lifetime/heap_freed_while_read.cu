// One thread frees memory of the device's heap that the others still read; with a barrier before the free it is right.
#include "../corpus.h"

enum { COUNT = 32 };

template <bool Waits> __global__ void reversed(int *out)
{
    __shared__ int *numbers;
    if (threadIdx.x == 0)
        numbers = (int *)malloc(COUNT * sizeof(int));
    __syncthreads();
    if (!numbers)
        return;
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = numbers[COUNT - 1 - threadIdx.x]; // expect: use-after-free
    if (Waits)
        __syncthreads();
    if (threadIdx.x == 0)
        free(numbers);
}

int main()
{
    int *out = device_zeros<int>(COUNT), result[COUNT];
    reversed<true><<<1, COUNT>>>(out);
    fetch(result, out);
    for (int i = 0; i < COUNT; i++)
        REQUIRE(result[i] == COUNT - 1 - i);
    reversed<false><<<1, COUNT>>>(out);
    SHOW(cudaDeviceSynchronize());
    cudaFree(out);
    return 0;
}
