// A histogram in shared memory for each block, added up with atomics at the end.
#include "../corpus.h"

__global__ void histogram(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i] / 16], 1u);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main()
{
    unsigned char *data = device_ramp<unsigned char>(512, 0, 1);
    unsigned *bins = device_zeros<unsigned>(16), result[16];
    histogram<<<2, 64>>>(data, 512, bins);
    CHECK(cudaGetLastError());
    fetch(result, bins);
    for (int i = 0; i < 16; i++)
        REQUIRE(result[i] == 32);
    CHECK(cudaFree(data));
    CHECK(cudaFree(bins));
    return 0;
}
