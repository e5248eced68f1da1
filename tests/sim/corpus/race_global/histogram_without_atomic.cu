// A histogram whose bins are incremented with plain reads and writes.
#include "../corpus.h"

__global__ void histogram(const unsigned char *data, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        bins[data[i] / 16]++; // expect: race
}

int main()
{
    unsigned char *data = device_ramp<unsigned char>(512, 0, 7);
    unsigned *bins = device_zeros<unsigned>(16);
    histogram<<<2, 64>>>(data, 512, bins);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(bins));
    return 0;
}
