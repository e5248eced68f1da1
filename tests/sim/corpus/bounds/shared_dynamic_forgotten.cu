// Dynamic shared memory is used but the launch gives none.
#include "../corpus.h"

extern __shared__ int scratch[];

__global__ void reverse(int *data)
{
    scratch[threadIdx.x] = data[threadIdx.x]; // expect: out-of-bounds
    __syncthreads();
    data[threadIdx.x] = scratch[31 - threadIdx.x]; // allow: out-of-bounds
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    reverse<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
