// c (m, n) = a (m, k) times b (k, n), all row-major: 4 x 4 elements of c per thread.
//
// A warp's 32 squares stand 4 x 8, a tile of 16 x 32 elements, and the 8 warps stand 4 x 2. The 8 squares side by side
// read banks 0, 4, … 28 of a row of tile_b. Sixteen side by side would need each of these banks twice.

#define TILE         64 // rows and columns of c per block
#define DEPTH        32 // steps of k per tile
#define THREADS      256
#define SIDE         4                          // a thread computes SIDE x SIDE elements of c
#define LANES_ACROSS 8                          // lanes of a warp side by side
#define WARP_COLUMNS (LANES_ACROSS * SIDE)      // a warp's tile: 32 columns …
#define WARP_ROWS    (32 / LANES_ACROSS * SIDE) // … and 16 rows
#define WARPS_ACROSS (TILE / WARP_COLUMNS)      // warps side by side

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][DEPTH + 1], tile_b[DEPTH][TILE];
    int thread = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    int warp = thread / 32, lane = thread % 32;
    int row = warp / WARPS_ACROSS * WARP_ROWS + lane / LANES_ACROSS * SIDE;
    int column = warp % WARPS_ACROSS * WARP_COLUMNS + lane % LANES_ACROSS * SIDE;
    float sum[SIDE][SIDE] = {{0}};

    for (int first = 0; first < k; first += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            int y = i / DEPTH, x = i % DEPTH;
            tile_a[y][x] = top + y < m && first + x < k ? a[(top + y) * k + first + x] : 0;
        }
        for (int i = thread; i < DEPTH * TILE; i += THREADS) {
            int y = i / TILE, x = i % TILE;
            tile_b[y][x] = first + y < k && left + x < n ? b[(first + y) * n + left + x] : 0;
        }
        __syncthreads();
        for (int p = 0; p < DEPTH; p++) {
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
