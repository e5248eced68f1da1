// A loop that stores the same in every round and never ends, for half of nothing is nothing.
#include "../corpus.h"

__device__ int depth(int *data, int n)
{
    int rounds = 0;
    for (int k = n; k >= 0; k /= 2) { // expect: spin
        data[k] = k;
        rounds = rounds < 10 ? rounds + 1 : data[0];
    }
    return rounds;
}

__global__ void forever(int *data, int n)
{
    data[n + 1] = depth(data, n);
}

int main()
{
    int *data = device_zeros<int>(66);
    forever<<<1, 1>>>(data, 64);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
