// c (m, n) = a (m, k) times b (k, n), all row-major: one thread per element of c.
//
// Outside of the matrices the tiles hold 0, which changes no sum.
//
// A tile is written by all threads and read by all threads, again and again. Reads must come after the writes of the
// same step (first barrier), and the writes of the next step after these reads (second barrier).

#define TILE 16

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;

    for (int first = 0; first < k; first += TILE) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
        __syncthreads(); // both tiles are complete
        for (int p = 0; p < TILE; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        __syncthreads(); // nobody needs them any more
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    matmul_kernel<<<blocks, dim3(TILE, TILE)>>>(a, b, c, m, n, k);
}
