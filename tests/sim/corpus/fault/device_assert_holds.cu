// A device assert that holds.
#include "../corpus.h"
#include <assert.h>

__global__ void check(const int *data)
{
    assert(data[threadIdx.x] >= 0);
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    check<<<1, 32>>>(data);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
