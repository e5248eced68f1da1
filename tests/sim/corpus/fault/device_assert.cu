// A device assert that fails: a finding with its line.
#include "../corpus.h"
#include <assert.h>

__global__ void check(const int *data)
{
    assert(data[threadIdx.x] < 20); // expect: assert
}

int main()
{
    int *data = device_ramp(32, 0, 1);
    check<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
