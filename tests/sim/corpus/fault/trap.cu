// __trap ends the kernel.
#include "../corpus.h"

__global__ void stop(const int *data)
{
    if (data[threadIdx.x] == 9)
        __trap(); // expect: trap
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    stop<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
