// A tile with a halo whose right edge is never loaded.
// cure: __syncthreads()
#include "../corpus.h"

__global__ void smooth(const float *input, float *output, int n)
{
    __shared__ float tile[66];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 1;
    tile[t] = input[i];
    if (threadIdx.x == 0)
        tile[0] = i > 0 ? input[i - 1] : 0;
    __syncthreads();
    output[i] = tile[t - 1] + tile[t] + tile[t + 1]; // expect: uninitialised
}

int main()
{
    float *input = device_ramp(128, 0.0f, 1.0f), *output = device_zeros<float>(128);
    smooth<<<2, 64>>>(input, output, 128);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
