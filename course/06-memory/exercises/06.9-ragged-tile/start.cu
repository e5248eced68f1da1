// Mirrors each 16 x 16 tile of a picture left to right. The tiles at the right edge may be narrower.

#define TILE 16

__global__ void mirror_tiles(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int left = blockIdx.x * TILE;
    int x = left + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int width = TILE;

    if (y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    if (y < rows)
        out[y * cols + x] = tile[threadIdx.y][width - 1 - threadIdx.x];
}
