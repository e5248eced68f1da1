// Pitched memory and two-dimensional copies in every direction.
#include "../corpus.h"

__global__ void add(char *data, size_t pitch, int width, int height)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height)
        ((int *)(data + y * pitch))[x] += 100;
}

int main()
{
    const int width = 10, height = 6;
    int host[height][width], result[height][width + 2];
    char *data = NULL;
    size_t pitch = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            host[y][x] = y * width + x;
    CHECK(cudaMallocPitch((void **)&data, &pitch, width * sizeof(int), height));
    REQUIRE(pitch >= width * sizeof(int));
    CHECK(cudaMemcpy2D(data, pitch, host, width * sizeof(int), width * sizeof(int), height, cudaMemcpyHostToDevice));
    add<<<height, 32>>>(data, pitch, width, height);
    CHECK(cudaMemcpy2D(result, (width + 2) * sizeof(int), data, pitch, width * sizeof(int), height,
                       cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            REQUIRE(result[y][x] == y * width + x + 100);
    CHECK(cudaMemset2D(data, pitch, 0, width * sizeof(int), height));
    CHECK(cudaFree(data));
    return 0;
}
