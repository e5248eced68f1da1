// A tiled matrix product with guards on every edge.
#include "../corpus.h"

enum { TILE = 8 };

__global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        int x = first + threadIdx.x, y = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0;
        right[threadIdx.y][threadIdx.x] = y < k && column < n ? b[y * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

int main()
{
    const int m = 19, n = 23, k = 13;
    float *a = device_ramp(m * k, 0.0f, 1.0f), *b = device_ramp(k * n, 1.0f, 0.5f), *c = device_zeros<float>(m * n);
    float result[m * n];
    sgemm<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, b, c, m, n, k);
    CHECK(cudaGetLastError());
    fetch(result, c);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float want = 0;
            for (int l = 0; l < k; l++)
                want += (float)(i * k + l) * (1 + 0.5f * (l * n + j));
            REQUIRE(result[i * n + j] == want);
        }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
