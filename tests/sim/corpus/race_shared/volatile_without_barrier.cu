// Volatile shared memory in place of a barrier: nothing waits for the other threads' stores.
// cure: __syncthreads
#include "../corpus.h"

__global__ void reverse(int *values)
{
    __shared__ volatile int tile[128];
    int t = threadIdx.x;
    tile[t] = values[t];       // expect: race a
    values[t] = tile[127 - t]; // expect: race a
}

int main()
{
    int *values = device_ramp<int>(128, 0, 1);
    reverse<<<1, 128>>>(values);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(values));
    return 0;
}
