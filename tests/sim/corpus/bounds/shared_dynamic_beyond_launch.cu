// The launch gives half of the dynamic shared memory the kernel uses.
// cure: launch
#include "../corpus.h"

__global__ void reverse(float *data)
{
    extern __shared__ float buffer[];
    int t = threadIdx.x;
    buffer[t] = data[t]; // expect: out-of-bounds
    __syncthreads();
    data[t] = t < 32 ? buffer[31 - t] : 0;
}

int main()
{
    float *data = device_ramp(64, 0.0f, 1.0f);
    reverse<<<1, 64, 32 * sizeof(float)>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
