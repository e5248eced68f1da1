// __syncwarp where __syncthreads is needed: the neighbour may be in another warp.
#include "../corpus.h"

__global__ void shift(int *data)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = data[t]; // expect: race a
    __syncwarp();
    data[t] = tile[(t + 1) % 64]; // expect: race a
}

int main()
{
    int *data = device_ramp(64, 0, 1);
    shift<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
