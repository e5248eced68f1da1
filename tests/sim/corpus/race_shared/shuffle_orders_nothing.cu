// A shuffle between the write and the read of shared memory is no barrier: it orders no memory.
#include "../corpus.h"

__global__ void exchange(int *data)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = data[t]; // expect: race a
    int other = __shfl_xor_sync(0xffffffffu, t, 1);
    data[t] = tile[other]; // expect: race a
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    exchange<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
