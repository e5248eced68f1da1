// The mean of each row of a matrix, with three bugs.

#include <cstdio>

enum { ROWS = 6, COLUMNS = 100, THREADS = 64 };

// in: (rows, columns), mean: (rows). One block per row.
__global__ void row_means(const float *in, float *mean, int columns)
{
    __shared__ float partial[THREADS];
    float sum = 0;
    for (int i = threadIdx.x; i <= columns; i += THREADS)
        sum += in[blockIdx.x * columns + i];
    partial[threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        float total = 0;
        for (int t = 0; t < THREADS; t++)
            total += partial[t];
        mean[blockIdx.x] = total / columns;
    }
}

int main(void)
{
    static float in[ROWS * COLUMNS], mean[ROWS];
    float *device_in, *device_mean;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = i / COLUMNS;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_mean, sizeof mean);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    row_means<<<ROWS, THREADS>>>(device_in, device_mean, COLUMNS);
    cudaMemcpy(mean, device_mean, sizeof mean, cudaMemcpyDeviceToHost);
    printf("%g %g ... %g\n", mean[0], mean[1], mean[ROWS - 1]);
    cudaFree(device_mean);
    return 0;
}
