// Who arrives at a named barrier (bar.arrive) has not waited: what others did before their bar.sync may come later.
#include "../corpus.h"

const int HALF = 32;

__global__ void swap(int *output)
{
    __shared__ int data[2][HALF];
    int t = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        data[0][t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        output[t] = data[1][t]; // expect: race a
    } else {
        data[1][t] = -t; // expect: race a
        asm volatile("bar.sync 1, 64;" ::: "memory");
        output[HALF + t] = data[0][t];
    }
}

int main()
{
    int *output = device_zeros<int>(2 * HALF);
    swap<<<1, 2 * HALF>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
