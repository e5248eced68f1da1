// Evaluates a polynomial whose coefficients are in constant memory: all lanes read the same one at a time.

#include <cmath>
#include <cstdio>

enum { TERMS = 5, N = 1000 };

__constant__ float coefficients[TERMS];

__global__ void polynomial(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int term = TERMS - 1; term >= 0; term--)
        sum = sum * x[i] + coefficients[term];
    y[i] = sum;
}

int main(void)
{
    const float host_coefficients[TERMS] = {1, 1, 1 / 2.f, 1 / 6.f, 1 / 24.f}; // e to the x, nearly
    static float x[N], y[N];
    float *device_x, *device_y;
    for (int i = 0; i < N; i++)
        x[i] = i / (2.f * N);
    cudaMemcpyToSymbol(coefficients, host_coefficients, TERMS * sizeof(float));
    cudaMalloc(&device_x, sizeof x);
    cudaMalloc(&device_y, sizeof y);
    cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
    polynomial<<<(N + 255) / 256, 256>>>(device_x, device_y, N);
    cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost);
    cudaFree(device_x);
    cudaFree(device_y);
    printf("exp(%g) is about %.3f\n", x[N - 1], y[N - 1]);
    return fabsf(y[N - 1] - expf(x[N - 1])) < 1e-3f && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
