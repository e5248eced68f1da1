// Transposes a matrix of 100 x 70: one thread per element, stores scattered.

#include <cstdio>

enum { ROWS = 100, COLUMNS = 70, COUNT = ROWS * COLUMNS };

// in: (rows, columns), out: (columns, rows)
__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        out[column * rows + row] = in[row * columns + column];
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
    dim3 block(32, 8), grid((COLUMNS + 31) / 32, (ROWS + 7) / 8);
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
