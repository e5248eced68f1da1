// Each thread counts the latch down, but none waits for it: the others may not have written yet.
#include <cuda/latch>

#include "../corpus.h"

__device__ cuda::latch<cuda::thread_scope_device> written(64);

__global__ void turn(int *data, int *out)
{
    data[threadIdx.x] = threadIdx.x; // expect: race a
    written.count_down();
    out[threadIdx.x] = data[63 - threadIdx.x]; // expect: race a
}

int main()
{
    int *data = device_zeros<int>(64), *out = device_zeros<int>(64);
    turn<<<1, 64>>>(data, out);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(out));
    return 0;
}
