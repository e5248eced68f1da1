// Half of a warp waits at one barrier, the other half at another.
#include "../corpus.h"

__global__ void split(int *data)
{
    int t = threadIdx.x;
    if (t % 2) {
        data[t] = 1;
        __syncthreads(); // expect: barrier-divergent a
    } else {
        data[t] = 2;
        __syncthreads(); // expect: barrier-divergent a
    }
}

int main()
{
    int *data = device_zeros<int>(64);
    split<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
