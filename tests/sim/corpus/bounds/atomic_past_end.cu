// A histogram whose last value falls into a bin that does not exist.
#include "../corpus.h"

__global__ void histogram(const int *data, int *bins)
{
    atomicAdd(&bins[data[threadIdx.x] / 10], 1); // expect: out-of-bounds
}

int main()
{
    int *data = device_ramp(101, 0, 1), *bins = device_zeros<int>(10);
    histogram<<<1, 101>>>(data, bins);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(bins));
    return 0;
}
