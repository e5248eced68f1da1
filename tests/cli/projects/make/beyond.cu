// beyond COUNT: writes one element too many.
#include <cstdlib>

__global__ void fill(float *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count)
        values[i] = FACTOR;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? std::atoi(argv[1]) : 1;
    float *device;
    cudaMalloc(&device, count * sizeof(float));
    fill<<<count / 32 + 1, 32>>>(device, count);
    cudaDeviceSynchronize();
    cudaFree(device);
    return 0;
}
