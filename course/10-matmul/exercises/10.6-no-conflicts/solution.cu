// c (m, n) = a (m, k) times b (k, n), all row-major: 4 x 4 elements of c per thread.
//
// The lanes of a warp read rows 4 y + r of tile_a, y = 0 … 3, in the same column. With rows of 32 words these are 128
// words apart: one bank. With rows of 33 words they are 132 apart, banks 0, 4, 8 and 12. tile_b is read along its rows,
// columns 4 x + s, x = 0 … 7: banks 0, 4, … 28 already, and lanes with the same x read the same word.

#define TILE    32
#define THREADS 64
#define SIDE    4             // a thread computes SIDE x SIDE elements of c
#define ACROSS  (TILE / SIDE) // threads side by side

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE + 1], tile_b[TILE][TILE]; // a column of tile_a lies in 32 banks
    int thread = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    int row = thread / ACROSS * SIDE, column = thread % ACROSS * SIDE;
    float sum[SIDE][SIDE] = {{0}};

    for (int first = 0; first < k; first += TILE) {
        for (int i = thread; i < TILE * TILE; i += THREADS) {
            int y = i / TILE, x = i % TILE;
            tile_a[y][x] = top + y < m && first + x < k ? a[(top + y) * k + first + x] : 0;
            tile_b[y][x] = first + y < k && left + x < n ? b[(first + y) * n + left + x] : 0;
        }
        __syncthreads();
        for (int p = 0; p < TILE; p++) {
            float from_a[SIDE], from_b[SIDE];
            for (int r = 0; r < SIDE; r++)
                from_a[r] = tile_a[row + r][p];
            for (int s = 0; s < SIDE; s++)
                from_b[s] = tile_b[p][column + s];
            for (int r = 0; r < SIDE; r++)
                for (int s = 0; s < SIDE; s++)
                    sum[r][s] += from_a[r] * from_b[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < SIDE; r++)
        for (int s = 0; s < SIDE; s++)
            if (top + row + r < m && left + column + s < n)
                c[(top + row + r) * n + left + column + s] = sum[r][s];
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    matmul_kernel<<<blocks, THREADS>>>(a, b, c, m, n, k);
}
