// A full-mask shuffle in a branch that half of the warp never takes; those lanes have ended by then.
#include "../corpus.h"

__global__ void half_sum(int *data)
{
    int t = threadIdx.x, value = data[t];
    if (t < 16)
        value += __shfl_xor_sync(0xffffffffu, value, 1); // expect: warp-mask(warning)
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
