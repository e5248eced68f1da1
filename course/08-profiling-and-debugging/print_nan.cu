// Normalises numbers by their length, and prints from the one thread that goes wrong.

#include <cstdio>

enum { N = 1000 };

__global__ void normalise(const float *x, const float *y, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
    float my_x = x[i], my_y = y[i];
    float length = sqrtf(my_x * my_x + my_y * my_y);
    float result = my_x / length;
    if (isnan(result))
        printf("i = %d: x = %g, y = %g, length = %g\n", i, my_x, my_y, length);
    out[i] = result;
}

int main(void)
{
    static float x[N], y[N];
    float *device_x, *device_y, *out;
    for (int i = 0; i < N; i++) {
        x[i] = i % 7 - 3;
        y[i] = i % 91 - 45;
    }
    cudaMalloc(&device_x, sizeof x);
    cudaMalloc(&device_y, sizeof y);
    cudaMalloc(&out, N * sizeof(float));
    cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y, sizeof y, cudaMemcpyHostToDevice);
    normalise<<<(N + 255) / 256, 256>>>(device_x, device_y, out);
    cudaDeviceSynchronize();
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
