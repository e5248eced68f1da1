// A 3x3 convolution with the filter in constant memory and a tile with halo.
#include "../corpus.h"

enum { TILE = 8 };

__constant__ int filter[9];

__global__ void convolve(const int *input, int *output, int height, int width)
{
    __shared__ int tile[TILE + 2][TILE + 2];
    int x0 = blockIdx.x * TILE - 1, y0 = blockIdx.y * TILE - 1;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        int x = x0 + i % (TILE + 2), y = y0 + i / (TILE + 2);
        tile[i / (TILE + 2)][i % (TILE + 2)] = x >= 0 && x < width && y >= 0 && y < height ? input[y * width + x] : 0;
    }
    __syncthreads();
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, sum = 0;
    for (int k = 0; k < 9; k++)
        sum += filter[k] * tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
    if (x < width && y < height)
        output[y * width + x] = sum;
}

int main()
{
    const int height = 13, width = 18;
    int host[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, result[height * width];
    int *input = device_ramp(height * width, 0, 1), *output = device_zeros<int>(height * width);
    CHECK(cudaMemcpyToSymbol(filter, host, sizeof host));
    convolve<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, TILE)>>>(input, output, height,
                                                                                                width);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int want = 0;
            for (int k = 0; k < 9; k++) {
                int i = x + k % 3 - 1, j = y + k / 3 - 1;
                want += i >= 0 && i < width && j >= 0 && j < height ? host[k] * (j * width + i) : 0;
            }
            REQUIRE(result[y * width + x] == want);
        }
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
