// The row above the first one: far before the matrix, which lies behind another.
#include "../corpus.h"

__global__ void up(const float *image, float *result, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    result[y * width + x] = image[(y - 1) * width + x]; // expect: out-of-bounds
}

int main()
{
    float *other = device_zeros<float>(256 * 8), *image = device_ramp(256 * 8, 0.0f, 1.0f);
    float *result = device_zeros<float>(256 * 8);
    up<<<8, 256>>>(image, result, 256);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(other));
    SHOW(cudaFree(image));
    SHOW(cudaFree(result));
    return 0;
}
