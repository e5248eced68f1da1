// out (cols, rows) = the transpose of in (rows, cols): one thread per element.
//
// The result is already correct, and the reads are coalesced. The writes are not.

#define TILE 32

__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    int x = blockIdx.x * TILE + threadIdx.x; // column of in
    int y = blockIdx.y * TILE + threadIdx.y; // row of in

    // TODO: through a tile in shared memory, so that neighbouring lanes also write neighbouring elements
    if (x < cols && y < rows)
        out[x * rows + y] = in[y * cols + x];
}
