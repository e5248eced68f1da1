// A tiled transpose with padding, for a shape that fills no tile.
#include "../corpus.h"

enum { TILE = 16 };

__global__ void transpose(const float *input, float *output, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = input[y * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < columns)
        output[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
    const int rows = 37, columns = 50;
    float *input = device_ramp(rows * columns, 0.0f, 1.0f), *output = device_zeros<float>(rows * columns);
    float result[rows * columns];
    transpose<<<dim3((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), dim3(TILE, TILE)>>>(input, output, rows,
                                                                                                 columns);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            REQUIRE(result[x * rows + y] == y * columns + x);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
