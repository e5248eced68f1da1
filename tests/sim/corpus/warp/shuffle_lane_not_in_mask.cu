// A lane calls a shuffle whose mask does not name it.
#include "../corpus.h"

__global__ void half_sum(int *data)
{
    int t = threadIdx.x, value = data[t];
    value += __shfl_xor_sync(0x0000ffffu, value, 1); // expect: warp-mask
    data[t] = value;
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    half_sum<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
