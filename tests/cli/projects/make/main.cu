// scale COUNT: a correct program.
#include <cstdlib>
#include <vector>

#include "steps.h"

__global__ void scale(float *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = times(i);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? std::atoi(argv[1]) : 1;
    std::vector<float> values(count);
    float *device;
    cudaMalloc(&device, count * sizeof(float));
    scale<<<(count + 31) / 32, 32>>>(device, count);
    cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
    report(values.data(), count);
    return 0;
}
