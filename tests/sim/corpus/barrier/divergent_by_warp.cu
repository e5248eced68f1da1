// Warps wait at different barriers of the same kind, each warp whole: hardware lets them meet.
#include "../corpus.h"

__global__ void split(int *data)
{
    int t = threadIdx.x;
    if (t < 32) {
        data[t] = 1;
        __syncthreads(); // expect: barrier-divergent(warning) a
    } else {
        data[t] = 2;
        __syncthreads(); // expect: barrier-divergent(warning) a
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
