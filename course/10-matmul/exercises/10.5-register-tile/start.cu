// c (m, n) = a (m, k) times b (k, n), all row-major: a column of 16 elements of c per thread.
//
// The tiles of a, b and c are all TILE x TILE. Outside of the matrices the tiles hold 0.

#define TILE    32
#define THREADS 64
#define ROWS    16               // elements of c per thread
#define STEP    (THREADS / TILE) // rows between two of them

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int thread = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    int row = thread / TILE, column = thread % TILE; // TODO: a square of 4 x 4, not a column of 16
    float sum[ROWS] = {0};

    for (int first = 0; first < k; first += TILE) {
        for (int i = thread; i < TILE * TILE; i += THREADS) {
            int y = i / TILE, x = i % TILE;
            tile_a[y][x] = top + y < m && first + x < k ? a[(top + y) * k + first + x] : 0;
            tile_b[y][x] = first + y < k && left + x < n ? b[(first + y) * n + left + x] : 0;
        }
        __syncthreads();
        for (int p = 0; p < TILE; p++) {
            float from_b = tile_b[p][column];
            for (int r = 0; r < ROWS; r++)
                sum[r] += tile_a[row + r * STEP][p] * from_b;
        }
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++)
        if (top + row + r * STEP < m && left + column < n)
            c[(top + row + r * STEP) * n + left + column] = sum[r];
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    matmul_kernel<<<blocks, THREADS>>>(a, b, c, m, n, k);
}
