// A shuffle reads from a lane that the mask leaves out: its value is undefined.
#include "../corpus.h"

__global__ void spread(int *data)
{
    int t = threadIdx.x;
    if (t < 16)
        data[t] = __shfl_sync(0x0000ffffu, data[t], 20); // expect: warp-mask
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    spread<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
