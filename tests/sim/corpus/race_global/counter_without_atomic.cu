// Blocks add to one counter with a plain ++.
// note: also seen as write and write
// cure: __threadfence
#include "../corpus.h"

__global__ void count(const int *data, int *counter)
{
    if (data[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0)
        ++*counter; // expect: race
}

int main()
{
    int *data = device_ramp(256, 0, 1), *counter = device_zeros<int>(1);
    count<<<4, 64>>>(data, counter);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(counter));
    return 0;
}
