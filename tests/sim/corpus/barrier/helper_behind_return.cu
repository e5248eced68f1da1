// Threads return in the kernel, and the barriers they miss are in a function that it calls, in its loop too: nobody
// passes a barrier by.
#include "../corpus.h"

__device__ float block_sum(float *values, float mine, int n)
{
    values[threadIdx.x] = mine;
    __syncthreads(); // expect: barrier-exited(warning)
    for (int step = 32; step > 0; step /= 2) {
        if (threadIdx.x < step && threadIdx.x + step < n)
            values[threadIdx.x] += values[threadIdx.x + step];
        __syncthreads(); // expect: barrier-exited(warning)
    }
    float all = values[0];
    return all;
}

__global__ void sum(float *out, int n)
{
    __shared__ float values[64];
    int i = threadIdx.x;
    if (i >= n)
        return;
    out[i] = block_sum(values, i, n);
}

#define LEAVE_BEYOND(i, n) \
    if ((i) >= (n))        \
    return

__global__ void rounds(float *out, int n)
{
    __shared__ float values[64];
    int i = threadIdx.x;
    LEAVE_BEYOND(i, n);
    float sum = 0;
    for (int round = 0; round < 3; round++) {
        values[i] = i + round;
        __syncthreads(); // expect: barrier-exited(warning)
        sum += values[n - 1 - i];
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[i] = sum;
}

int main()
{
    float *out = device_zeros<float>(64);
    sum<<<1, 64>>>(out, 50);
    SHOW(cudaDeviceSynchronize());
    rounds<<<1, 64>>>(out, 50);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(out));
    return 0;
}
