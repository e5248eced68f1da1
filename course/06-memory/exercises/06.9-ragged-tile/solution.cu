// Mirrors each 16 x 16 tile of a picture left to right. The tiles at the right edge may be narrower.
//
// A thread has a pixel only if its column and its row lie within the picture: two comparisons, for the load and for the
// store. And a tile at the right edge is mirrored about its own middle, so its width is what is left of the row.
// A .cu file is C++, so `bool` needs no header, and CUDA has `min` built in.

#define TILE 16

__global__ void mirror_tiles(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int left = blockIdx.x * TILE;
    int x = left + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int width = min(TILE, cols - left);
    bool inside = x < cols && y < rows;

    if (inside)
        tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    if (inside)
        out[y * cols + x] = tile[threadIdx.y][width - 1 - threadIdx.x];
}
