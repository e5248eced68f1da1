// c (m, n) = a (m, k) times b (k, n), all row-major: one thread per element of c.
// m, n and k are multiples of TILE.

#define TILE 16

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;

    // TODO: tile by tile, through shared memory
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + column];
    c[row * n + column] = sum;
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    matmul_kernel<<<blocks, dim3(TILE, TILE)>>>(a, b, c, m, n, k);
}
