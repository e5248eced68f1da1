// Transposes a matrix of 96 x 64 through tiles in shared memory, so that loads and stores are coalesced. Rows and
// columns are multiples of the tile, so it needs no guards.

#include <cstdio>

enum { TILE = 32, ROWS = 96, COLUMNS = 64, COUNT = ROWS * COLUMNS };

// in: (rows, columns), out: (columns, rows)
__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x; // of in
    int row = blockIdx.y * TILE + threadIdx.y;

    tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();

    column = blockIdx.y * TILE + threadIdx.x; // of out: the block indices change places
    row = blockIdx.x * TILE + threadIdx.y;
    out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

int main(void)
{
    static float in[COUNT], out[COUNT];
    float *device_in, *device_out;
    for (int i = 0; i < COUNT; i++)
        in[i] = i;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof out);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE), grid(COLUMNS / TILE, ROWS / TILE);
    transpose<<<grid, block>>>(device_in, device_out, ROWS, COLUMNS);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(device_in);
    cudaFree(device_out);
    int wrong = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            wrong += out[column * ROWS + row] != in[row * COLUMNS + column];
    printf("%d of %d elements are wrong\n", wrong, COUNT);
    return wrong || cudaGetLastError() != cudaSuccess;
}
