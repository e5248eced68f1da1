// C = alpha A B + beta C, one thread per element of C, compared with the same sums in double on the CPU.

#include "cuda_check.h"

#include <cmath>

// Where element (row, column) of a matrix lies in memory: rows one after the other.
__host__ __device__ int at(int row, int column, int width)
{
    return row * width + column;
}

// Row `row` of a times column `column` of b.
__device__ float dot(const float *a, const float *b, int row, int column, int n, int k)
{
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[at(row, p, k)] * b[at(p, column, n)];
    return sum;
}

// a: (m, k), b: (k, n), c: (m, n)
__global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        int i = at(row, column, n);
        c[i] = alpha * dot(a, b, row, column, n, k) + beta * c[i];
    }
}

// The same element in plain C, summed in double.
static double expected_at(const float *a, const float *b, float c, int row, int column, int n, int k, float alpha,
                          float beta)
{
    double sum = 0;
    for (int p = 0; p < k; p++)
        sum += (double)a[at(row, p, k)] * b[at(p, column, n)];
    return alpha * sum + beta * (double)c;
}

static float *to_device(const float *host, size_t bytes)
{
    float *device;
    CUDA_CHECK(cudaMalloc(&device, bytes));
    CUDA_CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

int main(void)
{
    enum { M = 50, N = 70, K = 30 };
    static float a[M * K], b[K * N], c[M * N], result[M * N];
    float alpha = 2, beta = 0.5f;
    for (int i = 0; i < M * K; i++)
        a[i] = sinf(i);
    for (int i = 0; i < K * N; i++)
        b[i] = cosf(i);
    for (int i = 0; i < M * N; i++)
        c[i] = i % 7;

    float *device_a = to_device(a, sizeof a), *device_b = to_device(b, sizeof b), *device_c = to_device(c, sizeof c);
    dim3 threads(16, 16);
    dim3 blocks((N + 15) / 16, (M + 15) / 16);
    sgemm<<<blocks, threads>>>(device_a, device_b, device_c, M, N, K, alpha, beta);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(result, device_c, sizeof result, cudaMemcpyDeviceToHost));

    double largest = 0;
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            int i = at(row, column, N);
            double expected = expected_at(a, b, c[i], row, column, N, K, alpha, beta);
            double error = fabs(result[i] - expected);
            if (!(error <= 1e-4)) { // true for NaN, too
                printf("element (%d, %d) is %g, expected %g\n", row, column, result[i], expected);
                return 1;
            }
            largest = fmax(largest, error);
        }
    printf("largest error: %.0e\n", largest);
    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_c));
    return 0;
}
