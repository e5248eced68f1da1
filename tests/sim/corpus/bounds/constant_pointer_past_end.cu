// Pointers into __constant__ and const arrays that leave them, and a word of which only some bytes are in a variable.
#include "../corpus.h"

__constant__ float weights[5] = {1, 2, 3, 4, 5};
__constant__ float others[5] = {6, 7, 8, 9, 10};
__device__ char text[6] = "abcde";
__device__ const int steps[4] = {1, 0, -1, 0};
static __constant__ const double factors[3] = {1, 2, 3};

__device__ __noinline__ float sum(const float *from, int count)
{
    float total = 0;
    for (int i = 0; i < count; i++)
        total += from[i]; // expect: out-of-bounds
    return total;
}

__global__ void add(float *output, int count)
{
    output[0] = sum(weights, 5) + sum(others, count);
}

__global__ void word(int *output, int index)
{
    const int *words = (const int *)text;
    output[0] = words[index]; // expect: out-of-bounds
}

template <class T> __device__ __noinline__ T entry(const T *from, int index)
{
    return from[index]; // expect: out-of-bounds
}

__global__ void constants(double *output, int index)
{
    const double *p = factors;
    output[0] = entry(steps, index);
    output[1] = p[-index]; // expect: out-of-bounds
}

int main()
{
    add<<<1, 1>>>(device_zeros<float>(1), 6);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
    word<<<1, 1>>>(device_zeros<int>(1), 1);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
    constants<<<1, 1>>>(device_zeros<double>(2), 4);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
    return 0;
}
