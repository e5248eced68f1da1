// out (cols, rows) = the transpose of in (rows, cols): one thread per element.
//
// A thread writes another element than it reads. The block (bx, by) of `in` is the block (by, bx) of `out`; within it
// threadIdx.x counts along a row of `in` while reading and along a row of `out` while writing, so both are coalesced.

#define TILE 32

__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];   // one more column: a column of the tile lies in 32 different banks
    int x = blockIdx.x * TILE + threadIdx.x; // column of in
    int y = blockIdx.y * TILE + threadIdx.y; // row of in

    if (x < cols && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x; // column of out
    y = blockIdx.x * TILE + threadIdx.y; // row of out
    if (x < rows && y < cols)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
