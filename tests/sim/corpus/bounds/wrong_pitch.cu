// Rows of a pitched allocation addressed with the pitch counted in elements: four times too far apart.
#include "../corpus.h"

__global__ void fill(float *data, size_t pitch, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x < width)
        data[y * pitch + x] = 1; // expect: out-of-bounds
}

int main()
{
    float *data = NULL;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&data, &pitch, 20 * sizeof(float), 8));
    fill<<<8, 32>>>(data, pitch, 20);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
